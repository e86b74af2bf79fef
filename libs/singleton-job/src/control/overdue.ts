import { type RunInfo } from '../base/events/run-info.js';
import { type Job } from '../jobs/job.js';
import { type TermHandle } from '../leadership/term.js';
import { type JobRunner } from '../runs/job-runner.js';

/**
 * When an overdue job of this replica should have run, in milliseconds since the epoch. Undefined: it is not overdue.
 */
export function overdueSince(
  runner: Pick<JobRunner, 'job' | 'election' | 'runs'>,
  wallNow: number,
): number | undefined {
  const { job, election, runs } = runner;
  // a run of a lost term does not stop another replica from leading
  if (election?.term === undefined || election.pause !== undefined) return undefined;
  const { activeTerm: term } = election;
  const run = runs.inFlight;
  // a job is late if it is late by both clocks: one that was set forward does not count
  const now = term === undefined ? wallNow : Math.min(wallNow, term.storeNow());
  const due = run === undefined ? term && dueWhileIdle(job, term, now) : dueWhileRunning(job, run);
  const patienceMs = (job.timeoutMs ?? job.lockExpiryMs) + job.lockExpiryMs;
  return due !== undefined && now > due + patienceMs ? due : undefined;
}

/**
 * The tick after that of the run in flight. Undefined for an interval without a `timeout`, whose runs may take any
 * time.
 */
function dueWhileRunning({ schedule, timeoutMs }: Job, run: RunInfo): number | undefined {
  if (schedule.kind !== 'interval') return schedule.next(run.scheduledAt.getTime());
  return timeoutMs === undefined ? undefined : schedule.next(run.startedAt.getTime());
}

/**
 * The tick after all that the record shows to be handled. An interval without an earlier run is due when the term
 * begins.
 */
function dueWhileIdle(
  { schedule }: Job,
  { fields, predecessor: { takenAt } }: TermHandle,
  now: number,
): number | undefined {
  const { run, lastScheduledAt = 0 } = fields;
  const handled = Math.max(takenAt, run?.endedAt ?? 0, Math.min(lastScheduledAt, now));
  if (schedule.kind !== 'interval') return schedule.next(handled);
  return Math.max(schedule.next(run?.endedAt ?? -Infinity), takenAt);
}
