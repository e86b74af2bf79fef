import { type IntervalSchedule } from '../schedule/schedule.js';
import { nextDue } from './due.js';
import { runFirst } from './first-run.js';
import { isClaimed } from './inheritance.js';
import { runRecordOf } from './run.js';
import { repeat, type TickLoopParts } from './tick-loop.js';

/**
 * Runs, waits, and runs again. The delay counts from the end of each run by the monotonic clock, and across leaders by
 * the store's clock. So a hand-over does not shorten the delay and does not start it again. If no run is known, the job
 * runs at once.
 *
 * A run after a long delay is claimed first. If it then ends its process or blocks its event loop, the next leader
 * waits one delay before it runs the job again. The claim may be written after the end of the term: then no run begins.
 */
export async function intervalLoop(schedule: IntervalSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, term, runs } = parts;
  await runFirst(parts);
  // at one moment: the take, its observers and the first run may have taken time
  const [storeNow, now] = [term.storeNow(), clock.now()];
  const firstDue = now + (nextDue(schedule, term.fields.run, storeNow) ?? storeNow) - storeNow;
  // a triggered run counts too: the next run comes one delay after its end
  const dueMs = (): number => Math.max(firstDue, schedule.next(runs.endedAtMs));
  await repeat(parts, dueMs, async (scheduledAt) => {
    const record = isClaimed(schedule) ? runRecordOf(term) : undefined;
    if (record !== undefined && !(await runs.claim(term, { run: record }))) return;
    runs.start({ term, record, scheduledAt, cause: 'schedule' });
  });
}
