import { unreadable } from '../base/errors/store.error.js';
import { type JobEvents, type Notify, type Reason } from '../base/events/events.js';
import { runnerFailed, scheduleDiffers } from '../base/events/warnings.js';
import { type Clock } from '../base/time/clock.js';
import { replicaOf } from '../store/lease-id.js';
import { type StoreListener, type SyncResult } from '../store/store.js';
import { type Candidate } from './candidate.js';
import { type Election } from './election.js';
import { type Sync } from './heartbeat.js';
import { Outages } from './outages.js';
import { jobOf, labelOf, type ObservedRecord } from './record.js';
import { type ReplicaObserver, type TermRelease } from './replica.js';
import { type TermHandle } from './term.js';

type TermEvent = 'leadershipGained' | 'leadershipLost' | 'leadershipReleased';

interface Reported {
  readonly leader?: string | undefined;
  readonly pausedAt?: number | undefined;
}

/** Turns what a replica tells into the events of the library. Locks have only the events of the store. */
export class Reports implements ReplicaObserver, StoreListener {
  readonly outages = new Outages(this.parts.clock, this.parts.notify);
  /** The schedule of a leader that was reported to differ, by job. */
  readonly #otherSchedules = new Map<string, string>();
  /** The replica that was told to lead, and since when the job was told to be paused. */
  readonly #reported = new WeakMap<Candidate, Reported>();

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly notify: Notify;
      readonly storeName: string;
      readonly scheduleOf: (job: string) => string | undefined;
    },
  ) {}

  gained(term: TermHandle): void {
    const { reason, leader } = term.predecessor;
    this.#ofTerm('leadershipGained', term, { because: reason, ...(leader !== undefined && { after: leader }) });
  }

  lost(term: TermHandle, reason: Reason<'leadershipLost'>): void {
    this.#ofTerm('leadershipLost', term, { reason });
  }

  released(term: TermHandle, release: TermRelease): void {
    this.#ofTerm('leadershipReleased', term, release);
  }

  disconnected(error: Error): void {
    this.outages.report(error);
  }

  syncFailed(error: unknown): void {
    this.outages.syncFailed(error);
  }

  wrote(failure: unknown): void {
    this.outages.wrote(failure);
  }

  synced({ sent }: Sync, { time }: SyncResult, isNew: boolean): void {
    const { clock, notify } = this.parts;
    this.outages.answered(sent.now, isNew);
    // assuming that request and answer take equally long
    const clockOffsetMs = time - (sent.wall + clock.wallNow()) / 2;
    notify('heartbeatAnswered', { roundTripMs: clock.now() - sent.now, clockOffsetMs });
  }

  recordSeen({ name, term }: Election, record: ObservedRecord): void {
    const job = jobOf(name);
    if (record.isUnreadable === true) {
      this.outages.report(unreadable(name, this.parts.storeName), labelOf(name));
      return;
    }
    this.outages.allowed(labelOf(name));
    if (job !== undefined && term === undefined) this.#lookAtSchedule(job, record);
  }

  /** Tells whom this replica follows, and whether the job is paused. */
  reconciled({ name, candidate, isWanted, observed, leader, pausedAt, term }: Election): void {
    const { notify } = this.parts;
    const job = jobOf(name);
    // a record that cannot be read says nothing of a pause
    if (job === undefined || !isWanted || observed.last.isUnreadable === true) return;
    const before: Reported = this.#reported.get(candidate) ?? {};
    const followed = term === undefined ? (leader ?? before.leader) : undefined;
    if (followed === before.leader && pausedAt === before.pausedAt) return;
    this.#reported.set(candidate, { leader: followed, pausedAt });
    if (followed !== undefined && followed !== before.leader) notify('leaderChanged', { job, leader: followed });
    if (pausedAt === before.pausedAt) return;
    // another pause may have begun since the last look. If no replica has written since: the record is older than the
    // pause, or gone
    const reason = observed.last.revision <= (before.pausedAt ?? 0) ? 'data-lost' : 'resumed';
    // an older record may show an older pause: then the job does not run again
    if (before.pausedAt !== undefined && (reason === 'resumed' || pausedAt === undefined))
      notify('jobResumed', { job, pausedAt: new Date(before.pausedAt), reason });
    if (pausedAt !== undefined) notify('jobPaused', { job, pausedAt: new Date(pausedAt) });
  }

  failed({ name }: Election, error: unknown): void {
    this.parts.notify('warning', runnerFailed(labelOf(name), error));
  }

  /** Locks have no events of their own. */
  #ofTerm<E extends TermEvent>(event: E, term: TermHandle, rest: Omit<JobEvents[E], 'job' | 'fencingToken'>): void {
    const job = jobOf(term.name);
    if (job !== undefined) this.parts.notify(event, { job, fencingToken: term.fencingToken, ...rest } as JobEvents[E]);
  }

  warning(warning: { readonly code: string; readonly message: string }): void {
    this.parts.notify('warning', warning);
  }

  /** During a deploy of a change, or for ever if two applications have one project name. */
  #lookAtSchedule(job: string, { value }: ObservedRecord): void {
    const { holder, schedule: theirs } = value ?? {};
    const mine = this.parts.scheduleOf(job);
    if (holder === undefined || theirs === undefined || mine === undefined || theirs === mine) return;
    if (this.#otherSchedules.get(job) === theirs) return;
    this.#otherSchedules.set(job, theirs);
    this.parts.notify('warning', scheduleDiffers(job, mine, theirs, replicaOf(holder)));
  }
}
