import { unreadable } from '../base/errors/lock-store.error.js';
import { type Notify } from '../base/events/events.js';
import { type LeadershipReleaseReason } from '../base/events/reasons.js';
import { pauseLost, scheduleDiffers } from '../base/events/warnings.js';
import { type Clock } from '../base/time/clock.js';
import { type StoreListener, type SyncResult } from '../store/store.js';
import { type Election, type Takeover } from './election.js';
import { type Sync } from './heartbeat.js';
import { Outages } from './outages.js';
import { jobOf, labelOf, leaseOf, replicaOf, type SeenRecord } from './record.js';
import { type ReplicaObserver } from './replica.js';
import { type Term, type TermEnd } from './term.js';

/** Turns what a replica tells into the events of the library. Locks have only the events of the store. */
export class Reports implements ReplicaObserver, StoreListener {
  readonly outages: Outages;
  /** Of the newest answer. */
  #timing = { roundTripMs: 0, clockOffsetMs: 0 };
  /** The pause of each job that was seen last. */
  readonly #pauses = new Map<string, number>();
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
    this.outages = new Outages(parts.clock, parts.notify);
  }

  gained({ name, fencingToken }: Term, { because, after }: Takeover): void {
    const job = jobOf(name);
    if (job !== undefined)
      this.parts.notify('leadershipGained', { job, fencingToken, because, ...(after !== undefined && { after }) });
  }

  lost({ name, fencingToken }: Term, how: Exclude<TermEnd, 'released'>): void {
    const job = jobOf(name);
    if (job === undefined) return;
    if (how !== 'abandoned') this.parts.notify('leadershipLost', { job, fencingToken, reason: how });
    // the run outlives the connections, so its lease ends by itself
    else
      this.parts.notify('leadershipReleased', {
        job,
        fencingToken,
        reason: 'shutdown',
        confirmed: false,
        runInFlight: true,
      });
  }

  released({ name, fencingToken }: Term, reason: LeadershipReleaseReason, confirmed: boolean): void {
    const job = jobOf(name);
    if (job !== undefined)
      this.parts.notify('leadershipReleased', { job, fencingToken, reason, confirmed, runInFlight: false });
  }

  disconnected(error: Error): void {
    this.outages.disconnected(error);
  }

  synced({ sent }: Sync, { time }: SyncResult, isNew: boolean): void {
    const { clock } = this.parts;
    this.outages.answered(isNew);
    // assuming that request and answer take equally long
    this.#timing = { roundTripMs: clock.now() - sent.now, clockOffsetMs: time - (sent.wall + clock.wallNow()) / 2 };
  }

  syncFailed(error: unknown): void {
    this.outages.failed(error);
  }

  wrote(failure: unknown): void {
    this.outages.wrote(failure);
  }

  seen({ name, term }: Election, record: SeenRecord): void {
    const job = jobOf(name);
    const { storeName } = this.parts;
    if (record.isUnreadable === true) {
      this.outages.denied(labelOf(name), unreadable(name, storeName));
      return;
    }
    this.outages.allowed(labelOf(name));
    if (job === undefined) return;
    this.#lookAtPause(job, record);
    if (term === undefined) this.#lookAtSchedule(job, record);
    else this.parts.notify('leaseRenewed', { job, fencingToken: term.fencingToken, ...this.#timing });
  }

  warning(warning: { readonly code: string; readonly message: string }): void {
    this.parts.notify('warning', warning);
  }

  /** A pause is over without a write of anybody: its record is older than it, or gone. */
  #lookAtPause(job: string, { value, revision }: SeenRecord): void {
    const before = this.#pauses.get(job);
    const { pausedAt } = value ?? {};
    if (pausedAt === undefined) this.#pauses.delete(job);
    else this.#pauses.set(job, pausedAt);
    if (before !== undefined && pausedAt === undefined && revision < before)
      this.parts.notify('warning', pauseLost(job, before, this.parts.storeName));
  }

  /** During a deploy of a change, or for ever if two applications have one project name. */
  #lookAtSchedule(job: string, { value }: SeenRecord): void {
    const { holder, schedule: theirs } = value ?? {};
    const mine = this.parts.scheduleOf(job);
    if (holder === undefined || theirs === undefined || mine === undefined || theirs === mine) return;
    if (this.#otherSchedules.get(job) === theirs) return;
    this.#otherSchedules.set(job, theirs);
    this.parts.notify('warning', scheduleDiffers(job, mine, theirs, replicaOf(leaseOf(holder))));
  }
}
