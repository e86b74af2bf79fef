import { type Election } from '../leadership/election.js';
import { type Term } from '../leadership/term.js';
import { type RunnerParts, type SingleFlight } from './single-flight.js';
import { type Sleeper } from './sleeper.js';

/** The parts of a tick loop during one term. */
export interface TickLoopParts extends RunnerParts {
  readonly term: Term;
  readonly runs: SingleFlight;
  /**
   * Aborts when the term ends, and when it is given back: then with a `Reason<'leadershipReleased'>`. No tick is fired
   * after that.
   */
  readonly quit: AbortSignal;
  readonly stepDown: Election['stepDown'];
  /** Its sleeps end when `quit` aborts. */
  readonly sleeper: Sleeper;
}

/** A job that runs again and again, by the monotonic clock. */
interface Repetition {
  /** When the next run is due. It changes with the end of each run. */
  readonly dueMs: () => number;
  readonly start: (scheduledAt: Date) => Promise<void> | void;
}

/** Starts a run whenever it is due and none is in flight, until the term ends. */
export async function repeat(parts: TickLoopParts, { dueMs, start }: Repetition): Promise<void> {
  const { clock, sleeper, term, runs } = parts;
  while (!sleeper.isOver) {
    const waitMs = dueMs() - clock.now();
    if (!runs.isBusy && waitMs > 0) await sleeper.sleep(waitMs);
    else if (!runs.isBusy && !term.isValid()) await sleeper.sleep(Infinity, term.untilValid());
    else {
      if (!runs.isBusy) await start(new Date(clock.wallNow() + waitMs));
      await runs.whenIdle();
    }
  }
}
