import { type Job } from '../jobs/job.js';
import { type Term } from '../leadership/term.js';
import { type IntervalSchedule } from '../schedule/schedule.js';
import { unlessAborted } from '../base/time/unless-aborted.js';
import { type TickLoopParts } from './tick-loop.js';

/** With a longer delay than this, start and end of a run are recorded at once, otherwise the end with the next renewal. */
const RECORD_AT_ONCE_MS = 10_000;

/**
 * Runs, waits, and runs again. The delay counts from the end of each run by the monotonic clock, and across leaders by the store's clock.
 * So a hand-over does not shorten the delay and does not start it again. If no run is known, the job runs at once.
 */
export async function intervalLoop(schedule: IntervalSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, quit, sleeper, term, runs, job } = parts;
  const { dueMs: firstDue, presumedEnd } = firstIntervalRun(schedule, term);
  // the next leader must not start the run earlier if this one hands over before it is due
  if (presumedEnd !== undefined) term.runEnded(presumedEnd);

  while (!sleeper.isOver) {
    // a triggered run counts too: the next run comes one delay after its end
    const due = Math.max(firstDue, schedule.next(runs.endedAtMs));
    const waitMs = due - clock.now();
    if (runs.isBusy) await runs.whenIdle();
    else if (waitMs > 0) await sleeper.sleep(waitMs);
    else if (!term.isValid()) await unlessAborted(term.untilValid(), quit);
    else {
      const scheduledAt = new Date(clock.wallNow() + waitMs);
      await noteIntervalStart(job, term);
      // A stop meanwhile does not prevent the run: its start is recorded, and the next leader would wait one delay for nothing. The term may
      // have ended, or a triggered run may have begun.
      if (mayStart(parts)) runs.start({ scheduledAt, cause: 'schedule' }, term);
    }
  }
}

/**
 * Records that a run is about to begin, if the delay is long. If the run then ends its process or blocks its event loop, the next leader
 * waits one delay before it runs the job again.
 */
export async function noteIntervalStart({ schedule }: Job, term: Term): Promise<void> {
  if (isRecordedAtOnce(schedule)) await term.runStarts();
}

/** Notes that a run has ended. Later leaders count the delay from here. */
export function noteIntervalEnd({ schedule }: Job, term: Term): void {
  if (schedule.kind !== 'interval') return;
  term.runEnded();
  if (isRecordedAtOnce(schedule)) void term.renewAfresh();
}

/**
 * When the first run of a term is due, by the monotonic clock: one delay after the last run ended on any replica, at once if no run is
 * known. A clock of the store that was set back would make it longer than one delay after the term began.
 *
 * The last leader may have been killed, cut off or blocked in a run whose end the store does not know. It started runs until its lease
 * ended. So an end at that time is presumed if a run had begun, or was due by then: `presumedEnd`, by the clock of the store.
 */
export function firstIntervalRun(schedule: IntervalSchedule, { startedAt, backlog }: Term) {
  const { grantedAt, recordedRunAt = -Infinity, leaseEndedAt = -Infinity } = backlog;
  const { runStartedAt = -Infinity, runEndedAt = -Infinity } = backlog;
  const known = Math.max(runStartedAt, runEndedAt);
  const isPresumed = runStartedAt > runEndedAt || schedule.next(recordedRunAt) < leaseEndedAt;
  const lastEnd = isPresumed ? Math.max(known, leaseEndedAt) : known;
  const delayMs = Math.min(Math.max(schedule.next(lastEnd) - grantedAt, 0), schedule.delayMs);
  return { dueMs: startedAt.now + delayMs, presumedEnd: isPresumed ? lastEnd : undefined };
}

function mayStart({ runs, term }: TickLoopParts): boolean {
  return !runs.isBusy && !runs.isClosed && term.isValid();
}

function isRecordedAtOnce(schedule: Job['schedule']): boolean {
  return schedule.kind === 'interval' && schedule.delayMs > RECORD_AT_ONCE_MS;
}
