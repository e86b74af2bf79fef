import { type IntervalSchedule } from '../schedule/schedule.js';
import { nextDue } from './due.js';
import { isClaimed } from './inheritance.js';
import { recordOf } from './single-flight.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';

/**
 * Runs, waits, and runs again. The delay counts from the end of each run by the monotonic clock, and across leaders by the store's clock.
 * So a hand-over does not shorten the delay and does not start it again. If no run is known, the job runs at once.
 */
export async function intervalLoop(schedule: IntervalSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, sleeper, term, runs } = parts;
  const storeNow = term.storeNow();
  const firstDue = term.startedAt.now + (nextDue(schedule, term.own.run, storeNow) ?? storeNow) - storeNow;

  while (!sleeper.isOver) {
    // a triggered run counts too: the next run comes one delay after its end
    const due = Math.max(firstDue, schedule.next(runs.endedAtMs));
    const waitMs = due - clock.now();
    if (runs.isBusy) await runs.whenIdle();
    else if (waitMs > 0) await sleeper.sleep(waitMs);
    else if (!term.isValid()) await sleeper.sleep(MAX_SLEEP_MS, term.untilValid());
    else {
      const scheduledAt = new Date(clock.wallNow() + waitMs);
      await startRun(schedule, parts, scheduledAt);
    }
  }
}

/**
 * A run after a long delay is claimed first. If it then ends its process or blocks its event loop, the next leader waits one delay before it
 * runs the job again. The claim may be written after the end of the term: then no run begins.
 */
async function startRun(schedule: IntervalSchedule, { runs, term }: TickLoopParts, scheduledAt: Date): Promise<void> {
  const tick = { scheduledAt, cause: 'schedule' } as const;
  const run = recordOf(term);
  const isWritten = isClaimed(schedule);
  if (!isWritten || (await runs.claim(term, { run }))) runs.start(tick, term, run, isWritten);
}
