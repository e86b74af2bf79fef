import { type ClaimResult, type Grant, type Holder, type RenewResult } from '../store/lock-store.js';
import { atDeadline } from '../base/time/at-deadline.js';
import { instant, type Instant, type Timer } from '../base/time/clock.js';
import { onAbort } from '../base/time/on-abort.js';
import { sleep } from '../base/time/sleep.js';
import { within } from '../base/time/within.js';
import { JobLease } from './job-lease.js';
import { type Takeover } from './known-holder.js';
import { isBefore } from './lease.js';
import { type Replica } from './replica.js';
import { type Session } from './session.js';
import { type StoreClock } from './store-clock.js';
import { TermRequests } from './term-requests.js';
import { type Backlog, type Watermarks } from './watermarks.js';

/** How a term ended: given back, taken by another holder, not confirmed in time, or left to expire by a process that ends. */
type TermEnd = 'released' | 'preempted' | 'expired' | 'abandoned';

/** Locks of jobs are renewed at this interval, with any `lockExpiry`: followers go by the session. */
export const RENEWAL_INTERVAL_MS = 10_000;
/** How long a run waits at most until its start is recorded. */
const RECORD_START_MS = 250;
/** The pause between two attempts to confirm a lease that is not valid by the clocks. */
const CONFIRMATION_PAUSE_MS = 250;

export interface TermFacts {
  readonly name: string;
  readonly holder: Holder;
  readonly session: Session;
  readonly grant: Grant;
  /** When the acquire request was sent, and whether the grant still proves that the lock is not lost. */
  readonly sent: Instant;
  readonly isUpToDate: () => boolean;
  readonly watermarks: Watermarks;
  /** What earlier leaders have left. */
  readonly backlog: Backlog;
  /** Why this replica became the leader. */
  readonly takeover: Takeover;
  /** The schedule in words. */
  readonly schedule: string;
}

/** The facts that a confirmed renewal or claim shows. */
interface Renewal {
  readonly roundTripMs: number;
  /** How far the store's clock is ahead, assuming that request and answer take equally long. */
  readonly clockOffsetMs: number;
  /** When the job was paused on all replicas. Undefined: it is not paused. */
  readonly pausedAt: number | undefined;
}

/** The parts of a replica that a term uses. */
type TermReplica = Pick<Replica, 'context' | 'heartbeats' | 'restarts' | 'messages' | 'renewals'>;

/**
 * One uninterrupted leadership of one replica: a lock that was granted under one session. The follower makes it, the runner uses it. A run
 * starts only if the lease is valid at that moment. Its {@link signal} aborts the run.
 */
export class Term {
  /** When the term began, on both clocks. */
  readonly startedAt: Instant;
  readonly #ending = new AbortController();
  /** How it ended, and its last deadline. */
  #ended: { readonly how: TermEnd; readonly deadline: Instant; readonly otherHolder: Holder | undefined } | undefined;
  readonly #lease: JobLease;
  #timer: Timer | undefined;
  readonly #requests: TermRequests;
  #validation: Promise<void> | undefined;
  #onRenewed: ((renewal: Renewal) => void) | undefined;

  constructor(
    private readonly replica: TermReplica,
    private readonly facts: TermFacts,
  ) {
    const { context, restarts } = replica;
    const { session, sent, isUpToDate } = facts;
    this.startedAt = instant(context.clock);
    this.#lease = new JobLease(session, sent, isUpToDate());
    this.#requests = new TermRequests({
      replica,
      facts,
      lease: this.#lease,
      signal: this.signal,
      onConfirmed: (result, sentAt, provesLock) => {
        this.#confirmed(result, sentAt, provesLock);
      },
      onLost: (otherHolder) => {
        this.#finish('preempted', otherHolder);
      },
    });
    const expire = (): void => {
      this.#finish('expired');
    };
    this.#timer = atDeadline(context.clock, () => this.#remainingAfterReportsMs(), expire);
    const removers = [
      restarts.protect(this),
      onAbort(session.signal, expire),
      onAbort(context.closing, () => {
        this.#finish('abandoned');
      }),
    ];
    onAbort(this.signal, () => {
      for (const remove of removers) remove();
    });
  }

  get holder(): Holder {
    return this.facts.holder;
  }

  get session(): Session {
    return this.facts.session;
  }

  /** Larger than that of every earlier term of the job. */
  get fencingToken(): number {
    return this.facts.grant.token;
  }

  get backlog(): Backlog {
    return this.facts.backlog;
  }

  get takeover(): Takeover {
    return this.facts.takeover;
  }

  /** Aborts when the term is over, for any reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** How it ended. Undefined until then. */
  get end(): TermEnd | undefined {
    return this.#ended?.how;
  }

  /** The holder that the lock has instead, as the answer that ended the term said. */
  get otherHolder(): Holder | undefined {
    return this.#ended?.otherHolder;
  }

  /** Until then no other replica can lead, unless the lock is released or deleted. It does not change after the end of the term. */
  get deadline(): Instant {
    return this.#ended?.deadline ?? this.#lease.deadline;
  }

  /** Milliseconds until the deadline, by the monotonic clock. */
  get remainingMs(): number {
    return this.deadline.now - this.replica.context.clock.now();
  }

  /** Whether a run may start now. Called again before each run. Past the deadline it first takes what the heartbeat thread has confirmed. */
  isValid(): boolean {
    const { context, heartbeats } = this.replica;
    if (isBefore(context.clock, this.deadline)) return this.#ended === undefined;
    heartbeats.takeReports();
    return this.#ended === undefined && isBefore(context.clock, this.deadline);
  }

  /** Whether the term is over, also if its signal could not fire yet. */
  isOver(): boolean {
    return this.#ended !== undefined || this.remainingMs <= 0;
  }

  /** What warnings call the store. */
  get storeName(): string {
    return this.replica.context.client.store.name;
  }

  get storeClock(): StoreClock {
    return this.#requests.storeClock;
  }

  /** The newest occurrence or slot whose run began or that was reported, on any replica, 0 if none. */
  get newestTick(): number {
    return this.facts.watermarks.newestTick;
  }

  /** Calls `callback` after every confirmed renewal and claim, until the term is over. */
  onRenewed(callback: (renewal: Renewal) => void): void {
    this.#onRenewed = callback;
  }

  /** Renews the lock now and once an interval, until the term is over or the returned function is called. */
  keepAlive(): () => void {
    const { renewal } = this.#requests;
    const stop = this.replica.renewals.add(renewal, RENEWAL_INTERVAL_MS);
    this.signal.addEventListener('abort', stop);
    // the first renewal records what the new leader found
    void renewal.renew();
    return stop;
  }

  /** The lock may be lost: heartbeats do not extend this lease until a renewal that is sent from now on has confirmed it. */
  freeze(): void {
    this.#lease.freeze();
  }

  /** Renews the lock with a request that is sent after this call. */
  renewAfresh(): Promise<void> {
    return this.#requests.renewal.renewAfresh();
  }

  /** Resolves when the lease is valid, or the term over. It sends a heartbeat and a renewal at once. */
  untilValid(): Promise<void> {
    this.#validation ??= this.#untilValid().finally(() => {
      this.#validation = undefined;
    });
    return this.#validation;
  }

  /** Claims a cron occurrence. Sends the request until there is an answer. Undefined: the term was over first. */
  claim(scheduledAt: number): Promise<ClaimResult | undefined> {
    return this.#requests.claim(scheduledAt);
  }

  /** The run of this occurrence has begun, or the occurrence was reported. The next request records it. */
  handled(scheduledAt: number): void {
    this.facts.watermarks.raise({ handled: scheduledAt });
  }

  /** The run of this slot of a fixed rate, or of this occurrence, has begun. The next request records it. */
  slotFired(slot: number): void {
    this.facts.watermarks.raise({ slot });
  }

  /** A run has begun. `describe` gives its record, which each request sends from now on. */
  runBegan(describe: () => string): void {
    this.facts.watermarks.runBegan(describe);
  }

  /** Like {@link runBegan}, for a run that is about to begin. Resolves when the store has recorded that, after 0.25 s at the latest. */
  async runBegins(describe: () => string): Promise<void> {
    this.runBegan(describe);
    await within(this.replica.context.clock, RECORD_START_MS, this.renewAfresh());
  }

  /** An interval run is about to begin. Resolves when the store has recorded that, after 0.25 s at the latest. */
  async runStarts(): Promise<void> {
    this.facts.watermarks.raise({ runStartedAt: this.storeClock.nowAtMost() });
    await within(this.replica.context.clock, RECORD_START_MS, this.renewAfresh());
  }

  /** An interval run has ended, now or at this time by the clock of the store. The next request records it. */
  runEnded(at = this.storeClock.nowAtMost()): void {
    this.facts.watermarks.raise({ runEndedAt: at });
  }

  /**
   * Ends the term and frees its lock. Resolves to whether the store has confirmed that, within 2 s. If not, the release continues in the
   * background, and the lock expires by itself. Called also for a term that has already ended, when nothing of it runs. Never rejects.
   */
  async release(): Promise<boolean> {
    // the timer of a passed deadline may not have fired yet
    this.#finish(this.#remainingAfterReportsMs() > 0 ? 'released' : 'expired');
    if (this.end === 'preempted') return true;
    const { holder, fencingToken: token, facts, replica } = this;
    const request = { name: facts.name, holder, token, update: facts.watermarks.lastUpdate(facts.schedule) };
    // an expired lock needs no release
    return replica.messages.release(request, this.#lease.lockRestMs(replica.context.clock.now()));
  }

  #finish(how: TermEnd, otherHolder?: Holder): void {
    if (this.#ended !== undefined) return;
    this.#ended = { how, deadline: this.deadline, otherHolder };
    this.#timer?.cancel();
    this.#ending.abort();
  }

  async #untilValid(): Promise<void> {
    while (!this.isValid() && !this.signal.aborted) {
      const { context, heartbeats } = this.replica;
      const { clock } = context;
      const triedMs = clock.now();
      await Promise.all([heartbeats.refresh(this.signal), within(clock, CONFIRMATION_PAUSE_MS, this.renewAfresh())]);
      const pauseMs = triedMs + CONFIRMATION_PAUSE_MS - clock.now();
      if (!this.isValid() && pauseMs > 0) await sleep(clock, pauseMs, this.signal);
    }
  }

  #confirmed({ storeTime, pausedAt }: RenewResult | ClaimResult, sent: Instant, provesLock: boolean): void {
    // takes what the heartbeat thread has confirmed
    const isValid = this.isValid();
    if (this.isOver()) return;
    this.facts.watermarks.recorded();
    // another replica may have led since a restart of the store: only a lease that never ran out continues
    if (this.#lease.isFrozen && !isValid) {
      this.#finish('expired');
      return;
    }
    this.#lease.confirm(sent, provesLock);
    const { now, wall } = instant(this.replica.context.clock);
    this.#onRenewed?.({ roundTripMs: now - sent.now, clockOffsetMs: storeTime - (sent.wall + wall) / 2, pausedAt });
  }

  #remainingAfterReportsMs(): number {
    this.replica.heartbeats.takeReports();
    return this.remainingMs;
  }
}
