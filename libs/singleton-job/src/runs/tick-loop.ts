import { type Notify } from '../base/events/events.js';
import { type Clock } from '../base/time/clock.js';
import { type Sleeper } from './sleeper.js';
import { type Job } from '../jobs/job.js';
import { type Term } from '../leadership/term.js';
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
  /** Aborts when the term ends, and when it is given back: then with a `Reason<'leadershipReleased'>`. No tick is fired after that. */
  readonly quit: AbortSignal;
  /** Gives the leadership to another replica, because several calls in a row have failed. */
  readonly stepDown: () => void;
  /** Its sleeps end when `quit` aborts. */
  readonly sleeper: Sleeper;
}

/** The longest sleep before the clocks are read again. The wall clock may have been stepped, or the host may have been suspended. */
export const MAX_SLEEP_MS = 30_000;

/** A job that runs again and again, by the monotonic clock. */
interface Repetition {
  /** When the next run is due. It changes with the end of each run. */
  readonly dueMs: () => number;
  readonly start: (scheduledAt: Date) => Promise<void> | void;
  /** Called when the run in flight has ended, also a triggered one. */
  readonly ended?: () => void;
}

/** Starts a run whenever it is due and none is in flight, until the term ends. */
export async function repeat(parts: TickLoopParts, { dueMs, start, ended }: Repetition): Promise<void> {
  const { clock, sleeper, term, runs } = parts;
  while (!sleeper.isOver) {
    const waitMs = dueMs() - clock.now();
    if (!runs.isBusy && waitMs > 0) await sleeper.sleep(waitMs);
    else if (!runs.isBusy && !term.isValid()) await sleeper.sleep(MAX_SLEEP_MS, term.untilValid());
    else {
      if (!runs.isBusy) await start(new Date(clock.wallNow() + waitMs));
      await runs.whenIdle();
      ended?.();
    }
  }
}
