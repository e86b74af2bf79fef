import { type JobEvents } from '../events/index.js';
import { type Grant, type Holder, holderName } from '../store/index.js';

/** Why a term began: two fields of `leadershipGained`. */
export type Takeover = Pick<JobEvents['leadershipGained'], 'because' | 'after'>;

/** The last holder of a lock that this replica knows of, and how its term ended. It may be this replica itself. */
export class LastLeader {
  #holder: Holder | undefined;
  #end: 'released' | 'expired' | undefined;

  /** A holder has the lock. */
  acquired(holder: Holder): void {
    if (holder === this.#holder) return;
    this.#holder = holder;
    this.#end = undefined;
  }

  /** The lease of this replica has expired. It releases the lock later, when Redis answers and no run is in flight. */
  expired(holder: Holder): void {
    if (holder === this.#holder) this.#end ??= 'expired';
  }

  released(holder: Holder): void {
    this.acquired(holder);
    this.#end ??= 'released';
  }

  /** Why the lock was granted. `hasSessionEnded`: it was requested because the session of the last leader has ended. */
  takeover({ stateCreatedAt, storeTime }: Grant, hasSessionEnded: boolean): Takeover {
    const holder = this.#holder;
    if (holder === undefined) return { because: stateCreatedAt === storeTime ? 'first' : 'lock-free' };
    const after = holderName(holder);
    if (hasSessionEnded || this.#end === 'expired') return { because: 'session-ended', after };
    return { because: this.#end ?? 'lock-free', after };
  }
}
