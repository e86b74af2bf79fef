import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type RunInfo } from '../events/index.js';
import { type Clock } from '../time/index.js';
import { firstIntervalDue } from '../runner/index.js';
import { type LastRun } from './job-status.js';

/** What one job does on this replica. */
export interface JobActivity {
  readonly job: JobDefinition;
  /** The term that it leads, and the run that ended last. */
  readonly term: Term | undefined;
  readonly lastRun: LastRun | null;
  readonly inFlight: RunInfo | undefined;
}

/** Since when a job of this replica should have run: milliseconds since the epoch. Undefined where nothing is late. */
export function overdueSince(activity: JobActivity, clock: Clock): number | undefined {
  const { job, term } = activity;
  const wall = clock.wallNow();
  // a clock that was stepped forward does not make a job late: the store's has not been
  const now = term === undefined ? wall : Math.min(wall, term.storeNow());
  const due =
    activity.inFlight === undefined ? dueWhileIdle(activity, clock, now) : dueWhileRunning(job, activity.inFlight);
  const patienceMs = (job.timeoutMs ?? job.lockExpiryMs) + job.lockExpiryMs;
  return due !== undefined && now > due + patienceMs ? due : undefined;
}

/** The tick after the one that the run in flight was started for. Without a `timeout` an interval waits for as long as it takes. */
function dueWhileRunning({ schedule, timeoutMs }: JobDefinition, run: RunInfo): number | undefined {
  if (schedule.kind !== 'interval') return schedule.next(run.scheduledAt.getTime());
  return timeoutMs === undefined ? undefined : schedule.next(run.startedAt.getTime());
}

/** The tick after all that this replica knows to be done, by whomever. Only a leader has to run anything. */
function dueWhileIdle({ job, term, lastRun }: JobActivity, clock: Clock, now: number): number | undefined {
  if (term === undefined) return undefined;
  const wall = clock.wallNow();
  const endedAt = lastRun === null ? 0 : Date.parse(lastRun.startedAt) + lastRun.durationMs;
  if (job.schedule.kind === 'interval') {
    const dueMs = Math.max(firstIntervalDue(job.schedule, term), clock.now() - (wall - job.schedule.next(endedAt)));
    return now - (clock.now() - dueMs);
  }
  return job.schedule.next(Math.max(term.startedAt.wall, endedAt, Math.min(term.known.newestClaimed, now)));
}
