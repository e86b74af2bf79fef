import { type Holder, type LockStore } from '../../store/lock-store.js';

/** A store for two replicas, and the faults that a test can cause. */
export interface LockStoreFixture {
  /** Open and subscribed. */
  readonly store: LockStore;
  /** The same locks as another replica sees them. Open and subscribed. */
  readonly other: LockStore;
  /** Sets a lock as another program would. Without `ttlMs` it lives for ever. */
  occupy(name: string, holder: Holder, ttlMs?: number): Promise<void>;
  /** Deletes everything, and the store stays the same server. */
  loseData(): Promise<void>;
  /** Deletes the list of sessions and nothing else. */
  loseSessions(): Promise<void>;
  /** Deletes the state of a lock and nothing else. */
  loseState(name: string): Promise<void>;
  /** Another server takes over, with the same data. For the group `a restart`. */
  restart?(): Promise<void>;
  /** Sets the clock of the store back. For the group `a clock that is set back`. */
  setClockBack?(ms: number): Promise<void>;
  /** Lets time pass for the store: by waiting, or by moving its clock. */
  passTime(ms: number): Promise<void>;
  /** Closes both stores and everything else that was opened. */
  end(): Promise<void>;
}
