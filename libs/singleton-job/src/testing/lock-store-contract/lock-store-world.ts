import { type Holder, type LockStore } from '../../store/index.js';

/** A store as two replicas see it, with what a test may do to it from outside. */
export interface LockStoreWorld {
  /** Open and hearing. */
  readonly store: LockStore;
  /** The same locks as another replica sees them, open and hearing. */
  readonly other: LockStore;
  /** Set where a sender learns only how many heard it at the node that it sent to. */
  readonly countsPartOfReceivers?: boolean;
  /** Sets a lock as somebody does who keeps no state; without `ttlMs` it stays for ever. */
  occupy(name: string, holder: Holder, ttlMs?: number): Promise<void>;
  /** Forgets every lock and every state. */
  loseData(): Promise<void>;
  /** Lets this much time pass for the store: by waiting, or by moving its clock. */
  passTime(ms: number): Promise<void>;
  /** Closes both stores and whatever else was opened. */
  end(): Promise<void>;
}
