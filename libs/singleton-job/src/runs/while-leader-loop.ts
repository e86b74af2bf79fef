import { type WhileLeaderSchedule } from '../schedule/schedule.js';
import { onAbort } from '../base/time/on-abort.js';
import { crashesBefore } from './inheritance.js';
import { recordOf } from './single-flight.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';

/** The delay after a throw grows up to this, unless `restartDelay` is longer. */
const MAX_RESTART_DELAY_MS = 30_000;
/** After so many throws in a row another replica tries: the cause may be this replica. */
const THROWS_UNTIL_STEP_DOWN = 3;

/**
 * Calls the method at once, and again when it has ended while this replica still leads. Its signal fires as soon as the leadership or the
 * application ends, so that the lock is free when the method has settled.
 */
export async function whileLeaderLoop(schedule: WhileLeaderSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, quit, sleeper, stepDown, term, runs } = parts;
  const remove = onAbort(quit, () => {
    // a lost lease has aborted it before
    runs.abort(quit.reason === 'shutdown' ? 'SHUTDOWN' : 'STEPPED_DOWN');
  });
  // a run of the last leader may have ended its process, and would end this one
  let crashes = crashesBefore(term.backlog);
  const afterCrashMs = crashes === 0 ? -Infinity : term.startedAt.now + delayMs(schedule, crashes);
  // a leader that failed before waits also in its next term
  let dueMs = Math.max(afterCrashMs, runs.failures === 0 ? -Infinity : restartDueMs(schedule, parts));
  try {
    // so that the next leader counts on if this process crashes too
    if (crashes > 0) await sleeper.sleep(MAX_SLEEP_MS, term.save({ run: recordOf(term, { crashes }) }));
    while (!quit.aborted) {
      const waitMs = dueMs - clock.now();
      if (runs.isBusy) {
        await runs.whenIdle();
        dueMs = restartDueMs(schedule, parts);
        if (runs.failures > 0 && runs.failures % THROWS_UNTIL_STEP_DOWN === 0) stepDown();
      } else if (waitMs > 0) await sleeper.sleep(waitMs);
      else if (!term.isValid()) await sleeper.sleep(MAX_SLEEP_MS, term.untilValid());
      else {
        const scheduledAt = new Date(clock.wallNow());
        runs.start({ scheduledAt, cause: 'schedule' }, term, recordOf(term, { crashes }));
        crashes = 0;
      }
    }
  } finally {
    remove();
  }
}

function restartDueMs(schedule: WhileLeaderSchedule, { runs }: TickLoopParts): number {
  return runs.endedAtMs + delayMs(schedule, runs.failures);
}

/** The delay after so many failures in a row. */
function delayMs({ restartDelayMs }: WhileLeaderSchedule, failures: number): number {
  const grown = restartDelayMs * 2 ** Math.max(failures - 1, 0);
  return Math.max(restartDelayMs, Math.min(grown, MAX_RESTART_DELAY_MS));
}
