import { type Election } from '../leadership/election.js';
import { type TermHandle } from '../leadership/term.js';
import { type RunnerParts } from './run.js';
import { type SingleFlight } from './single-flight.js';
import { type Sleeper } from './sleeper.js';

/** The parts of a tick loop during one term. */
export interface TickLoopParts extends RunnerParts {
  readonly term: TermHandle;
  readonly runs: SingleFlight;
  readonly election: Pick<Election, 'stepDown'> | undefined;
  /** It is over when the term ends, or is being released. No tick is fired after that. */
  readonly sleeper: Sleeper;
}

/**
 * Starts a run whenever it is due and none is in flight, until the term ends. `dueMs`: when the next one is due, by the
 * monotonic clock, which changes with the end of each run.
 */
export async function repeat(
  parts: TickLoopParts,
  dueMs: () => number,
  start: (scheduledAt: number) => Promise<void>,
): Promise<void> {
  const { clock, sleeper, term, runs } = parts;
  while (!sleeper.isOver) {
    const waitMs = dueMs() - clock.now();
    if (runs.isBusy) await runs.whenIdle();
    else if (waitMs > 0) await sleeper.sleep(waitMs);
    else if (!term.isValid()) await sleeper.sleep(Infinity, term.untilValid());
    else await start(clock.wallNow() + waitMs);
  }
}
