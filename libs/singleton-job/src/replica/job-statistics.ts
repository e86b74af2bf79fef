import { type JobEvents, type JobObserver, type RunEnded } from '../events/index.js';
import { messageOf } from '../errors/index.js';
import { type JobCounters, type LastRun, type RunOutcome } from './job-status.js';

const NOTHING: JobCounters = {
  terms: 0,
  lostTerms: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  dropped: 0,
  missed: 0,
};

/** Counts what happens to each job on this replica. */
export class JobStatistics implements JobObserver {
  readonly #counters = new Map<string, JobCounters>();
  readonly #lastRuns = new Map<string, LastRun>();

  countersOf(job: string): JobCounters {
    return this.#counters.get(job) ?? NOTHING;
  }

  lastRunOf(job: string): LastRun | null {
    return this.#lastRuns.get(job) ?? null;
  }

  forget(job: string): void {
    this.#counters.delete(job);
    this.#lastRuns.delete(job);
  }

  leadershipGained({ job }: JobEvents['leadershipGained']): void {
    this.#count(job, 'terms');
  }

  leadershipLost({ job }: JobEvents['leadershipLost']): void {
    this.#count(job, 'lostTerms');
  }

  runSucceeded(run: JobEvents['runSucceeded']): void {
    this.#ended(run, 'succeeded', null);
  }

  runFailed(run: JobEvents['runFailed']): void {
    this.#ended(run, 'failed', messageOf(run.error));
  }

  runCancelled(run: JobEvents['runCancelled']): void {
    this.#ended(run, 'cancelled', null);
  }

  tickDropped({ job, count }: JobEvents['tickDropped']): void {
    this.#count(job, 'dropped', count);
  }

  occurrencesMissed({ job, count }: JobEvents['occurrencesMissed']): void {
    this.#count(job, 'missed', count);
  }

  #ended(run: RunEnded, outcome: RunOutcome, error: string | null): void {
    const { job, cause, durationMs, fencingToken } = run;
    const [scheduledAt, startedAt] = [run.scheduledAt.toISOString(), run.startedAt.toISOString()];
    this.#lastRuns.set(job, { cause, outcome, scheduledAt, startedAt, durationMs, fencingToken, error });
    this.#count(job, outcome);
  }

  #count(job: string, what: keyof JobCounters, by = 1): void {
    const counters = this.countersOf(job);
    this.#counters.set(job, { ...counters, [what]: counters[what] + by });
  }
}
