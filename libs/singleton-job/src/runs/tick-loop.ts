import { type Job } from '../jobs/job.js';
import { type Notify } from '../base/events/events.js';
import { type Term } from '../leadership/term.js';
import { type Clock } from '../base/time/clock.js';
import { type Sleeper } from '../base/time/sleeper.js';
import { type SingleFlight } from './single-flight.js';

/** The parts of a tick loop during one term. */
export interface TickLoopParts {
  readonly job: Job;
  readonly term: Term;
  readonly runs: SingleFlight;
  readonly clock: Clock;
  readonly notify: Notify;
  /** For messages, such as `Redis`. */
  readonly storeName: string;
  /** Aborts when the term ends, and when it is given back: then with a `LeadershipReleaseReason`. No tick is fired after that. */
  readonly quit: AbortSignal;
  /** Gives the leadership to another replica, because several calls in a row have failed. */
  readonly stepDown: () => void;
  /** Its sleeps end when `quit` aborts. */
  readonly sleeper: Sleeper;
}

/** The longest sleep before the clocks are read again. The wall clock may have been stepped, or the host may have been suspended. */
export const MAX_SLEEP_MS = 30_000;
