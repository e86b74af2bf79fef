import { type JobEvents } from '../events/index.js';
import { type Grant, type Holder, holderName } from '../store/index.js';

/** How a term came about: two fields of `leadershipGained`. */
export type Takeover = Pick<JobEvents['leadershipGained'], 'because' | 'after'>;

/** The last holder of a lock that this replica knows of, itself included, and whether it released the lock. */
export class LastLeader {
  #holder: Holder | undefined;
  #hasReleased = false;

  /** A holder has the lock. */
  leads(holder: Holder): void {
    this.#holder = holder;
    this.#hasReleased = false;
  }

  released(holder: Holder): void {
    this.#holder = holder;
    this.#hasReleased = true;
  }

  /** How the grant came about. `hasSessionEnded`: the lock was requested because the session of the last leader has ended. */
  takeover({ stateCreatedAt, storeTime }: Grant, hasSessionEnded: boolean): Takeover {
    const holder = this.#holder;
    if (holder === undefined) return { because: stateCreatedAt === storeTime ? 'first' : 'lock-free' };
    const after = holderName(holder);
    if (hasSessionEnded) return { because: 'session-ended', after };
    return { because: this.#hasReleased ? 'released' : 'lock-free', after };
  }
}
