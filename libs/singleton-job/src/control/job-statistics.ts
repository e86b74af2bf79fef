import { messageOf } from '../base/errors/message-of.js';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type RunEnded } from '../base/events/run-info.js';
import { type JobCounters, type LastRun, type RunOutcome } from './job-status.js';

type Counters = { -readonly [K in keyof JobCounters]: JobCounters[K] };

interface Recorded {
  readonly counters: Counters;
  /** The last run, with dates, not texts: most runs are never read. */
  last?: Pick<LastRun, 'outcome' | 'error'> & { readonly run: RunEnded };
}

/** Counts the events of each job on this replica. */
export class JobStatistics implements JobObserver {
  readonly #jobs = new Map<string, Recorded>();

  countersOf(job: string): JobCounters {
    return { ...(this.#jobs.get(job)?.counters ?? nothing()) };
  }

  lastRunOf(job: string): LastRun | null {
    const { last } = this.#jobs.get(job) ?? {};
    if (last === undefined) return null;
    const { run, outcome, error } = last;
    const { cause, durationMs, fencingToken } = run;
    const [scheduledAt, startedAt] = [run.scheduledAt.toISOString(), run.startedAt.toISOString()];
    return { cause, outcome, scheduledAt, startedAt, durationMs, fencingToken, error };
  }

  forget(job: string): void {
    this.#jobs.delete(job);
  }

  leadershipGained({ job }: JobEvents['leadershipGained']): void {
    this.#of(job).counters.terms += 1;
  }

  leadershipLost({ job }: JobEvents['leadershipLost']): void {
    this.#of(job).counters.lostTerms += 1;
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
    this.#of(job).counters.dropped += count;
  }

  occurrencesMissed({ job, count }: JobEvents['occurrencesMissed']): void {
    this.#of(job).counters.missed += count;
  }

  #ended(run: RunEnded, outcome: RunOutcome, error: string | null): void {
    const recorded = this.#of(run.job);
    recorded.counters[outcome] += 1;
    recorded.last = { run, outcome, error };
  }

  #of(job: string): Recorded {
    const recorded: Recorded = this.#jobs.get(job) ?? { counters: nothing() };
    this.#jobs.set(job, recorded);
    return recorded;
  }
}

function nothing(): Counters {
  return { terms: 0, lostTerms: 0, succeeded: 0, failed: 0, cancelled: 0, dropped: 0, missed: 0 };
}
