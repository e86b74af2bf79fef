import { unreadable } from '../base/errors/lock-store.error.js';
import { type JobEvents, type Notify, type Reason } from '../base/events/events.js';
import { runnerFailed, scheduleDiffers } from '../base/events/warnings.js';
import { type Clock } from '../base/time/clock.js';
import { replicaOf } from '../store/lease-id.js';
import { type StoreListener, type SyncResult } from '../store/store.js';
import { type Election } from './election.js';
import { type Sync } from './heartbeat.js';
import { Outages } from './outages.js';
import { jobOf, labelOf, type SeenRecord } from './record.js';
import { type ReplicaObserver, type TermRelease } from './replica.js';
import { type Term } from './term.js';

type TermEvent = 'leadershipGained' | 'leadershipLost' | 'leadershipReleased' | 'leaseRenewed';

/** Turns what a replica tells into the events of the library. Locks have only the events of the store. */
export class Reports extends Outages implements ReplicaObserver, StoreListener {
  /** Of the newest answer. */
  #timing = { roundTripMs: 0, clockOffsetMs: 0 };
  /** The schedule of a leader that was reported to differ, by job. */
  readonly #otherSchedules = new Map<string, string>();

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly notify: Notify;
      readonly storeName: string;
      readonly scheduleOf: (job: string) => string | undefined;
    },
  ) {
    super(parts.clock, parts.notify);
  }

  gained(term: Term): void {
    const { because, after } = term.backlog;
    this.#ofTerm('leadershipGained', term, { because, ...(after !== undefined && { after }) });
  }

  lost(term: Term, reason: Reason<'leadershipLost'>): void {
    this.#ofTerm('leadershipLost', term, { reason });
  }

  released(term: Term, release: TermRelease): void {
    this.#ofTerm('leadershipReleased', term, release);
  }

  disconnected(error: Error): void {
    this.report(error);
  }

  synced({ sent }: Sync, { time }: SyncResult, isNew: boolean): void {
    const { clock } = this.parts;
    this.answered(sent.now, isNew);
    // assuming that request and answer take equally long
    this.#timing = { roundTripMs: clock.now() - sent.now, clockOffsetMs: time - (sent.wall + clock.wallNow()) / 2 };
  }

  seen({ name, term }: Election, record: SeenRecord): void {
    const job = jobOf(name);
    if (record.isUnreadable === true) {
      this.report(unreadable(name, this.parts.storeName), labelOf(name));
      return;
    }
    this.allowed(labelOf(name));
    if (job === undefined) return;
    if (term === undefined) this.#lookAtSchedule(job, record);
    else if (term.holder === record.value?.holder) this.#ofTerm('leaseRenewed', term, this.#timing);
  }

  failed({ name }: Election, error: unknown): void {
    this.parts.notify('warning', runnerFailed(labelOf(name), error));
  }

  /** Locks have no events of their own. */
  #ofTerm<E extends TermEvent>(event: E, term: Term, rest: Omit<JobEvents[E], 'job' | 'fencingToken'>): void {
    const job = jobOf(term.name);
    if (job !== undefined) this.parts.notify(event, { job, fencingToken: term.fencingToken, ...rest } as JobEvents[E]);
  }

  warning(warning: { readonly code: string; readonly message: string }): void {
    this.parts.notify('warning', warning);
  }

  /** During a deploy of a change, or for ever if two applications have one project name. */
  #lookAtSchedule(job: string, { value }: SeenRecord): void {
    const { holder, schedule: theirs } = value ?? {};
    const mine = this.parts.scheduleOf(job);
    if (holder === undefined || theirs === undefined || mine === undefined || theirs === mine) return;
    if (this.#otherSchedules.get(job) === theirs) return;
    this.#otherSchedules.set(job, theirs);
    this.parts.notify('warning', scheduleDiffers(job, mine, theirs, replicaOf(holder)));
  }
}
