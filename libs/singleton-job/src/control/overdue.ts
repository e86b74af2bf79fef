import { type Job } from '../jobs/job.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Term } from '../leadership/term.js';
import { firstDelayMs, inherit } from '../runs/inheritance.js';
import { type Clock } from '../base/time/clock.js';
import { type LastRun } from './job-status.js';

/** The state of one job on this replica. */
export interface JobActivity {
  readonly job: Job;
  /** The current term. Undefined: this replica does not lead. */
  readonly term: Term | undefined;
  readonly lastRun: LastRun | null;
  readonly inFlight: RunInfo | undefined;
}

/** When an overdue job of this replica should have run, in milliseconds since the epoch. Undefined: it is not overdue. */
export function overdueSince(activity: JobActivity, clock: Clock): number | undefined {
  const { job, term } = activity;
  const wall = clock.wallNow();
  // a local clock that was set forward does not make a job late: the store's clock was not
  const now = term === undefined ? wall : Math.min(wall, term.storeNow());
  const due =
    activity.inFlight === undefined ? dueWhileIdle(activity, clock, now) : dueWhileRunning(job, activity.inFlight);
  const patienceMs = (job.timeoutMs ?? job.lockExpiryMs) + job.lockExpiryMs;
  return due !== undefined && now > due + patienceMs ? due : undefined;
}

/** The tick after that of the run in flight. Undefined for an interval without a `timeout`, whose runs may take any time. */
function dueWhileRunning({ schedule, timeoutMs }: Job, run: RunInfo): number | undefined {
  if (schedule.kind !== 'interval') return schedule.next(run.scheduledAt.getTime());
  return timeoutMs === undefined ? undefined : schedule.next(run.startedAt.getTime());
}

/** The tick after all ticks that this replica knows to be handled on any replica. Undefined: it does not lead. */
function dueWhileIdle({ job, term, lastRun }: JobActivity, clock: Clock, now: number): number | undefined {
  if (term === undefined) return undefined;
  const wall = clock.wallNow();
  const endedAt = lastRun === null ? 0 : Date.parse(lastRun.startedAt) + lastRun.durationMs;
  if (job.schedule.kind === 'interval') {
    const { run } = inherit(job.schedule, term.backlog);
    const firstMs = term.startedAt.now + firstDelayMs(job.schedule, run, term.backlog.takenAt);
    const dueMs = Math.max(firstMs, clock.now() - (wall - job.schedule.next(endedAt)));
    return now - (clock.now() - dueMs);
  }
  return job.schedule.next(Math.max(term.startedAt.wall, endedAt, Math.min(term.own.lastScheduledAt ?? 0, now)));
}
