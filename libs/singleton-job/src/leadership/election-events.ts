import { unreadable } from '../base/errors/store.error.js';
import { type JobEvents } from '../base/events/events.js';
import { runnerFailed, scheduleDiffers } from '../base/events/warnings.js';
import { replicaOf } from '../store/lease-id.js';
import { type Candidate } from './candidate.js';
import { type LeadershipContext } from './context.js';
import { jobOf, labelOf, type ObservedRecord, type Pause } from './record.js';

type TermEvent = 'leadershipGained' | 'leadershipLost' | 'leadershipReleased';

/** The events of one election, each once. Those of a lock are of the store only. */
export class ElectionEvents {
  readonly #job: string | undefined;
  /** The schedule of a leader that was reported to differ. */
  #otherSchedule: string | undefined;
  /** The replica that was reported to lead. */
  #leader: string | undefined;
  /** The pauses that were reported. */
  #pauses: { readonly [S in JobEvents['jobPaused']['scope']]?: Pause | undefined } | undefined;

  constructor(
    private readonly candidate: Candidate,
    private readonly context: Pick<LeadershipContext, 'notify' | 'outages' | 'storeName' | 'storeView'>,
  ) {
    this.#job = jobOf(candidate.name);
  }

  ofTerm<E extends TermEvent>(event: E, fencingToken: number, rest: Omit<JobEvents[E], 'job' | 'fencingToken'>): void {
    const job = this.#job;
    if (job !== undefined) this.context.notify(event, { job, fencingToken, ...rest } as JobEvents[E]);
  }

  failed(error: unknown): void {
    this.context.notify('warning', runnerFailed(labelOf(this.candidate.name), error));
  }

  /** The store has answered. `isLeading`: this replica leads by the record. */
  observed(record: ObservedRecord, isLeading: boolean): void {
    const { name } = this.candidate;
    const { outages, storeName } = this.context;
    if (record.isUnreadable === true) {
      outages.report(unreadable(name, storeName), labelOf(name));
      return;
    }
    outages.allowed(labelOf(name));
    if (!isLeading) this.#compareSchedule(record);
  }

  /** Whom this replica follows. `leader`: as far as this replica knows. */
  status(last: ObservedRecord, isLeading: boolean, leader: string | undefined): void {
    const job = this.#job;
    if (job === undefined || last.isUnreadable === true) return;
    const followed = isLeading ? undefined : (leader ?? this.#leader);
    if (followed !== undefined && followed !== this.#leader)
      this.context.notify('leaderChanged', { job, leader: followed });
    this.#leader = followed;
  }

  /** Whether the job is paused, by its own record or by that of all jobs. */
  pause(scope: JobEvents['jobPaused']['scope'], last: ObservedRecord, pause: Pause | undefined): void {
    const job = this.#job;
    const before = this.#pauses?.[scope];
    // a record that cannot be read says nothing of a pause
    if (job === undefined || last.isUnreadable === true || JSON.stringify(pause) === JSON.stringify(before)) return;
    const { notify } = this.context;
    this.#pauses = { ...this.#pauses, [scope]: pause };
    if (before !== undefined && before.at !== pause?.at) {
      const reason = this.#endOf(before, last);
      // an older record may show an older pause: then the job does not run again
      if (reason !== 'data-lost' || pause === undefined) notify('jobResumed', { job, scope, ...shown(before), reason });
    }
    if (pause !== undefined) notify('jobPaused', { job, scope, ...shown(pause) });
  }

  /** How a pause has ended. If no replica has written since it began, the record is older than the pause, or gone. */
  #endOf({ at, until = Infinity }: Pause, last: ObservedRecord): JobEvents['jobResumed']['reason'] {
    // another replica may have found that first, and have taken the job
    if (this.context.storeView.storeNowAtMost() >= until) return 'expired';
    return last.revision <= at ? 'data-lost' : 'resumed';
  }

  /** During a deploy of a change, or for ever if two applications have one project name. */
  #compareSchedule({ value }: ObservedRecord): void {
    const { holder, schedule: theirs } = value ?? {};
    const mine = this.candidate.schedule;
    const job = this.#job;
    if (job === undefined || holder === undefined || theirs === undefined || mine === undefined) return;
    if (theirs === mine || theirs === this.#otherSchedule) return;
    this.#otherSchedule = theirs;
    this.context.notify('warning', scheduleDiffers(job, mine, theirs, replicaOf(holder)));
  }
}

function shown({ at, until, reason }: Pause) {
  return {
    pausedAt: new Date(at),
    ...(until !== undefined && { pausedUntil: new Date(until) }),
    ...(reason !== undefined && { pauseReason: reason }),
  };
}
