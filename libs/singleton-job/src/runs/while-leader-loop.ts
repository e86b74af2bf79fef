import { returnsAtOnce } from '../base/events/warnings.js';
import { backoffMs } from '../base/time/backoff.js';
import { type WhileLeaderSchedule } from '../schedule/schedule.js';
import { crashesBefore } from './inheritance.js';
import { runRecordOf } from './run.js';
import { repeat, type TickLoopParts } from './tick-loop.js';

/** After so many throws in a row another replica tries: the cause may be this replica. */
const THROWS_UNTIL_STEP_DOWN = 3;
/** A method that returns sooner returns at once. */
const AT_ONCE_MS = 1_000;
/** A method that returns at once so many times in a row does not wait for the end of the leadership. */
const RETURNS_UNTIL_WARNING = 3;

/**
 * Calls the method at once, and again when it has ended while this replica still leads. Its signal fires as soon as the
 * leadership or the application ends, so that the job is released when the method has settled.
 */
export async function whileLeaderLoop(schedule: WhileLeaderSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, job, notify, sleeper, election, term, runs } = parts;
  const delayMs = (failures: number): number => backoffMs(schedule.restartDelayMs, failures);
  // a run of the last leader may have ended its process, and would end this one
  let crashes = crashesBefore(term.predecessor);
  const firstDueMs = term.startedAt.now + (crashes === 0 ? 0 : delayMs(crashes));
  // so that the next leader counts on if this process crashes too
  if (crashes > 0) await sleeper.sleep(Infinity, term.save({ run: runRecordOf(term, { crashes }) }));
  const dueMs = (): number => {
    // a leader that failed before waits also in its next term
    const isAgain = runs.failures > 0 || runs.endedAtMs >= term.startedAt.now;
    return Math.max(firstDueMs, isAgain ? runs.endedAtMs + delayMs(runs.failures) : -Infinity);
  };
  let returns = 0;
  await repeat(parts, dueMs, async (scheduledAt) => {
    const startedMs = clock.now();
    runs.start({ term, crashes, scheduledAt, cause: 'schedule' });
    crashes = 0;
    await runs.whenIdle();
    returns = runs.failures === 0 && runs.endedAtMs - startedMs < AT_ONCE_MS ? returns + 1 : 0;
    if (returns === RETURNS_UNTIL_WARNING) notify('warning', returnsAtOnce(job.name, schedule.restartDelayMs));
    if (runs.failures > 0 && runs.failures % THROWS_UNTIL_STEP_DOWN === 0) election?.stepDown('failed-calls');
  });
}
