import { type LastRun } from './job-status.js';
import { isoOf } from '../base/time/iso-of.js';
import { type JobEntry } from '../runs/job-pool.js';

/** When the next tick of a job is due on its leader, as ISO 8601. Null: this replica cannot know. */
export function nextDue({ job, active }: JobEntry, lastRun: LastRun | null, wallNow: number): string | null {
  const { schedule } = job;
  if (schedule.kind !== 'interval') return isoOf(schedule.next(wallNow));
  // the delay counts from the end of the last run, which may have been on another replica
  const term = active?.election.activeTerm;
  if (term === undefined || active?.runner.runs.isBusy === true || lastRun?.fencingToken !== term.fencingToken)
    return null;
  const endedAt = Date.parse(lastRun.startedAt) + lastRun.durationMs;
  return isoOf(Math.max(Math.ceil(schedule.next(endedAt)), wallNow));
}
