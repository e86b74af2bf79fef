import { interruptedRun } from '../leadership/decide.js';
import { type Predecessor } from '../leadership/record-view.js';
import { isFarAhead, type LeaderFields, type RunRecord } from '../leadership/record.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { leaseOf, ttlOf } from '../store/lease-id.js';

/**
 * With a longer delay than this, start and end of an interval run are written at once, otherwise the end within 10 s.
 */
const WRITTEN_AT_ONCE_MS = 10_000;
/** A run of `@WhileLeader` that lasted so long is not the cause of what ended it. */
export const HEALTHY_RUN_MS = 30_000;

/** Whether each run of the schedule is written before it starts. */
export function isClaimed(schedule: AnySchedule): boolean {
  return schedule.kind === 'cron' || (schedule.kind === 'interval' && schedule.delayMs > WRITTEN_AT_ONCE_MS);
}

/**
 * The fields that a new leader writes with its take.
 *
 * - A cron job begins after each occurrence that is handled, may have been claimed in lost data, or is older than a new
 *   schedule. The run still names the newest one if a leader of another kind was in between.
 * - A run that has no end gets one, so that it is reported once.
 * - After a leader that did not release, the end of the last run of a short interval, or of another schedule, is not
 *   known: it counts as now.
 */
export function inherit(schedule: AnySchedule, predecessor: Predecessor): LeaderFields {
  const { claimsLostUntil, takenAt, lostLeader } = predecessor;
  const fields = believed(predecessor);
  const change = changeOf(schedule, predecessor);
  const isCron = schedule.kind === 'cron';
  const run = fields.run && notAhead(fields.run, takenAt);
  // a cron job without one begins now
  const { lastScheduledAt = isCron ? takenAt : 0 } = change === 'kind' ? {} : fields;
  const { occurrence = 0 } = run ?? {};
  const newest = Math.max(lastScheduledAt, occurrence, claimsLostUntil, change === 'none' ? 0 : takenAt);
  const begin = isCron ? newest : lastScheduledAt;
  const isEndWritten = isClaimed(schedule) && change === 'none';
  const isEndUnknown = schedule.kind === 'interval' && !isEndWritten && lostLeader !== undefined;
  const ended =
    interruptedRun(run, takenAt) ??
    (isEndUnknown ? { by: lostLeader, startedAt: takenAt, ...run, endedAt: takenAt } : run);
  return {
    schedule: schedule.description,
    ...(begin > 0 && { lastScheduledAt: begin }),
    ...(ended !== undefined && { run: ended }),
    ...(fields.versions !== undefined && { versions: fields.versions }),
  };
}

/** Without times of occurrences that no clock but a wrong one has shown: a schedule would be silent until then. */
function believed({ fields, takenAt }: Pick<Predecessor, 'fields' | 'takenAt'>): LeaderFields {
  const isAhead = (at = 0): boolean => isFarAhead(at, takenAt);
  const { lastScheduledAt, run, ...others } = fields;
  return {
    ...others,
    ...(lastScheduledAt !== undefined && !isAhead(lastScheduledAt) && { lastScheduledAt }),
    ...(run !== undefined && { run: isAhead(run.occurrence) ? { ...run, occurrence: undefined } : run }),
  };
}

/** A time ahead of the store's is from a clock that was set back. */
function notAhead(run: RunRecord, storeNow: number): RunRecord {
  const { startedAt, endedAt } = run;
  return {
    ...run,
    startedAt: Math.min(startedAt, storeNow),
    ...(endedAt !== undefined && { endedAt: Math.min(endedAt, storeNow) }),
  };
}

/**
 * How many leaders in a row ended without a release, as far as a run of `@WhileLeader` may be the cause. 0: the last
 * one released.
 */
export function crashesBefore({ record, lostLeader, takenAt }: Predecessor): number {
  if (lostLeader === undefined) return 0;
  const { run, holder } = record ?? {};
  const isInFlight = run?.by === lostLeader && run.endedAt === undefined;
  if (!isInFlight) return 1;
  // it ended at the end of the lease at the latest
  const longestMs = takenAt - run.startedAt - (holder === undefined ? 0 : ttlOf(leaseOf(holder)));
  return longestMs < HEALTHY_RUN_MS ? (run.crashes ?? 0) + 1 : 1;
}

/** How the schedule differs from that of the last leader. Another kind has times of another meaning. */
export function changeOf({ kind, description }: AnySchedule, { record }: Predecessor): 'none' | 'times' | 'kind' {
  const { schedule: before = description } = record ?? {};
  if (before === description) return 'none';
  return before.startsWith(`${kind} `) ? 'times' : 'kind';
}
