import { type Store } from '../../store/store.js';

/**
 * A server with an empty project, and the faults that a test can cause on it. A fault that is left out is not tested.
 */
export interface StoreFixture {
  /**
   * A store as another replica of the project has it: its own connection, not open yet. The suite opens and closes it.
   */
  newStore(): Store;
  /** The same for another, empty project on the same server: one for all calls. */
  newStoreOfOtherProject(): Store;
  /** Lets time pass for the store. @default waits */
  passTime?(ms: number): Promise<void>;
  /** Makes a record that is absent one that cannot be read, such as a key of another type. */
  corrupt?(name: string): Promise<void>;
  /** Another server takes over with the same data, or the server starts again. */
  restart?(): Promise<void>;
  /** Deletes all that the store keeps: leases, records and the incarnation. The server stays the same. */
  loseData?(): Promise<void>;
  /** Sets the clock of the store back. */
  setClockBack?(ms: number): Promise<void>;
  /** Ends what the fixture has opened. Called when the stores are closed. @default nothing */
  end?(): Promise<void>;
}
