import { messageOf } from '../base/errors/message-of.js';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type RunEnded } from '../base/events/run-info.js';
import { type JobCounters, type LastRun, type RunOutcome } from './job-status.js';

type Counters = { -readonly [K in keyof JobCounters]: JobCounters[K] };

type LastRunRecord = Pick<LastRun, 'cause' | 'outcome' | 'durationMs' | 'fencingToken' | 'error'> &
  Pick<RunEnded, 'scheduledAt' | 'startedAt'>;

interface Recorded {
  readonly counters: Counters;
  /** With dates, not texts: most runs are never read. */
  lastRun: LastRunRecord | undefined;
}

/** Counts the events of each job on this replica. */
export class JobStatistics implements JobObserver {
  readonly #jobs = new Map<string, Recorded>();

  countersOf(job: string): JobCounters {
    return { ...(this.#jobs.get(job)?.counters ?? nothing()) };
  }

  lastRunOf(job: string): LastRun | null {
    const last = this.#jobs.get(job)?.lastRun;
    if (last === undefined) return null;
    return { ...last, scheduledAt: last.scheduledAt.toISOString(), startedAt: last.startedAt.toISOString() };
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
    const { cause, scheduledAt, startedAt, durationMs, fencingToken } = run;
    recorded.lastRun = { cause, outcome, scheduledAt, startedAt, durationMs, fencingToken, error };
  }

  #of(job: string): Recorded {
    const known = this.#jobs.get(job);
    if (known !== undefined) return known;
    const recorded: Recorded = { counters: nothing(), lastRun: undefined };
    this.#jobs.set(job, recorded);
    return recorded;
  }
}

function nothing(): Counters {
  return { terms: 0, lostTerms: 0, succeeded: 0, failed: 0, cancelled: 0, dropped: 0, missed: 0 };
}
