import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Candidate } from '../../libs/singleton-job/src/leadership/election.js';
import { type OwnFields } from '../../libs/singleton-job/src/leadership/record.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { type Term } from '../../libs/singleton-job/src/leadership/term.js';

/** A lock of `LockService` with one caller of a process at a time. To be replaced by the real one. */
export class Lock implements Candidate {
  readonly name = 'a:mutex';
  readonly kind = 'lock';
  readonly isIdle = true;
  isInUse = false;
  #lead: (term: Term) => void = () => {};

  constructor(readonly lifeMs: number) {}

  /** Waits for the lock for `waitMs` and holds it for `holdMs`. */
  use(
    replica: Replica,
    clock: Clock,
    { waitMs, holdMs, acquired }: { readonly waitMs: number; readonly holdMs: number; readonly acquired: () => void },
  ): void {
    if (this.isInUse) return;
    const election = replica.electionFor(this);
    this.isInUse = true;
    const giveUp = (): void => {
      this.isInUse = false;
      void election.withdraw('shutdown');
    };
    const waiting = clock.setTimer(waitMs, giveUp);
    this.#lead = (term) => {
      waiting.cancel();
      acquired();
      const holding = clock.setTimer(holdMs, giveUp);
      term.signal.addEventListener('abort', () => {
        if (term.end === 'released') return;
        holding.cancel();
        giveUp();
      });
    };
    election.compete();
  }

  inherit(): OwnFields {
    return {};
  }

  lead(term: Term): void {
    this.#lead(term);
  }

  drain(): void {}

  trigger(): never {
    throw new TypeError('a lock has no runs');
  }
}
