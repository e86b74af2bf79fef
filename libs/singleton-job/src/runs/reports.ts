import { type MissReason } from '../base/events/reasons.js';
import { kindOf } from './inheritance.js';
import { type TickLoopParts } from './tick-loop.js';

/** Occurrences are counted up to this, so that a long outage does not block the event loop. */
export const COUNT_LIMIT = 1_000;

interface Missed {
  readonly reason: MissReason;
  /** The window (`after`, `upTo`]. */
  readonly after: number;
  readonly upTo: number;
}

/** Reports once that no replica will start the occurrences of a window any more. */
export function reportMissed({ job, notify }: TickLoopParts, { reason, after, upTo }: Missed): void {
  notify('occurrencesMissed', {
    job: job.name,
    reason,
    from: new Date(after),
    to: new Date(upTo),
    count: countOf({ job }, after, upTo),
  });
}

/** The same, if the window has an occurrence of the current schedule. */
export function reportIfAnyMissed(parts: TickLoopParts, missed: Missed): void {
  if (countOf(parts, missed.after, missed.upTo) > 0) reportMissed(parts, missed);
}

/** Reports once that the ticks of a window came due while a run was in flight. */
export function reportOverlap({ job, notify }: TickLoopParts, after: number, upTo: number): void {
  const count = countOf({ job }, after, upTo);
  notify('tickDropped', { job: job.name, kind: 'cron', reason: 'overlap', scheduledAt: new Date(upTo), count });
}

/** Counted by the current schedule. 0 for a kind without occurrences. */
function countOf({ job: { schedule } }: Pick<TickLoopParts, 'job'>, after: number, upTo: number): number {
  return schedule.kind === 'cron' ? schedule.count(after, upTo, COUNT_LIMIT) : 0;
}

/** Reports what earlier leaders left undone: an interrupted run, and occurrences that nobody starts any more. None of them is started. */
export function reportBacklog(parts: TickLoopParts): void {
  const { job, notify, term } = parts;
  const { record, left, claimsLostUntil, takenAt } = term.backlog;
  const { run, lastScheduledAt: after } = left;
  if (run !== undefined && run.endedAt === undefined)
    notify('runInterrupted', { job: job.name, startedAt: new Date(run.startedAt), by: run.by });
  if (after === undefined) return;
  if (claimsLostUntil > after) reportIfAnyMissed(parts, { reason: 'state-lost', after, upTo: claimsLostUntil });
  else if (hasChanged(record?.schedule, job.schedule.description))
    reportIfAnyMissed(parts, { reason: 'schedule-changed', after, upTo: takenAt });
}

/** Whether a cron expression or its zone has changed. */
function hasChanged(before: string | undefined, now: string): boolean {
  return before !== undefined && before !== now && kindOf(before) === kindOf(now);
}
