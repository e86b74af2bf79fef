import { describeError, MAX_ERROR_LENGTH } from '../base/errors/message-of.js';
import { type EndedRun } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type JobCounters, type LastRun, type RunOutcome } from './job-status.js';

type Counters = { -readonly [K in keyof JobCounters]: JobCounters[K] };

interface Recorded {
  readonly counters: Counters;
  /** The last run, not its texts: most runs are never read. */
  last?: Pick<LastRun, 'outcome' | 'error'> & { readonly run: EndedRun };
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

  leadershipGained: JobObserver['leadershipGained'] = ({ job }) => this.#count(job, 'terms');
  leadershipLost: JobObserver['leadershipLost'] = ({ job }) => this.#count(job, 'lostTerms');
  runSucceeded: JobObserver['runSucceeded'] = (run) => this.#ended(run, 'succeeded', null);
  runFailed: JobObserver['runFailed'] = (run) => this.#ended(run, 'failed', describeError(run.error, MAX_ERROR_LENGTH));
  runCancelled: JobObserver['runCancelled'] = (run) => this.#ended(run, 'cancelled', null);
  tickDropped: JobObserver['tickDropped'] = ({ job, count }) => this.#count(job, 'dropped', count);
  occurrencesMissed: JobObserver['occurrencesMissed'] = ({ job, count }) => this.#count(job, 'missed', count);

  #ended(run: EndedRun, outcome: RunOutcome, error: string | null): Recorded {
    const recorded = this.#count(run.job, outcome);
    recorded.last = { run, outcome, error };
    return recorded;
  }

  #count(job: string, what: keyof JobCounters, count = 1): Recorded {
    const recorded = this.#jobs.get(job) ?? { counters: nothing() };
    recorded.counters[what] += count;
    this.#jobs.set(job, recorded);
    return recorded;
  }
}

function nothing(): Counters {
  return { terms: 0, lostTerms: 0, succeeded: 0, failed: 0, cancelled: 0, dropped: 0, missed: 0 };
}
