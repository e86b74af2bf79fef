import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type IntervalSchedule } from '../schedule/index.js';
import { unlessAborted } from '../time/index.js';
import { type TickLoopParts } from './tick-loop.js';

/** With a longer delay than this, the end of a run is recorded at once, otherwise with the next renewal. */
const RECORD_AT_ONCE_MS = 10_000;

/**
 * Runs, waits, and runs again. The delay counts from the end of each run by the monotonic clock, and across leaders by the store's clock.
 * So a hand-over does not shorten the delay and does not start it again. If no end is known, the job runs at once.
 */
export async function intervalLoop(schedule: IntervalSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, quit, sleeper, term, guard } = parts;
  const firstDue = firstIntervalDue(schedule, term);

  while (!quit.aborted) {
    // a triggered run counts too: the next run comes one delay after its end
    const due = Math.max(firstDue, schedule.next(guard.endedAtMs));
    const waitMs = due - clock.now();
    if (guard.isBusy) await guard.free();
    else if (waitMs > 0) await sleeper.sleep(waitMs);
    else if (!term.isTrusted()) await unlessAborted(term.untilTrusted(), quit);
    else guard.start({ scheduledAt: new Date(clock.wallNow() + waitMs), cause: 'schedule' }, term);
  }
}

/** Notes that a run has settled. Later leaders count the delay from here. */
export function noteIntervalEnd({ schedule }: JobDefinition, term: Term): void {
  if (schedule.kind !== 'interval') return;
  // an earlier time would shorten the delay
  term.known.runEnded(term.storeNowAtMost());
  if (schedule.delayMs > RECORD_AT_ONCE_MS) void term.renewAfresh();
}

/**
 * When the first run of a term is due, by the monotonic clock: one delay after the last run ended on any replica.
 *
 * The last leader may have been killed during a run that the store does not know of. If a run was due before its last heartbeat, that run
 * probably began, so the delay counts from that heartbeat.
 */
export function firstIntervalDue(schedule: IntervalSchedule, term: Term): number {
  const { startedAt, grant, facts } = term;
  const endedAt = facts.inherited?.lastRunEndedAt;
  if (endedAt === undefined) return startedAt.now;
  const { predecessorLastHeartbeat: lastHeartbeat } = facts;
  const dueAt = schedule.next(endedAt);
  const due = lastHeartbeat !== undefined && dueAt < lastHeartbeat ? schedule.next(lastHeartbeat) : dueAt;
  return Math.max(startedAt.now, startedAt.now + (due - grant.storeTime));
}
