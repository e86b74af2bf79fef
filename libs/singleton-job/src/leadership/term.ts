import {
  type ClaimResult,
  type Grant,
  type Holder,
  lockLifeMs,
  type RenewResult,
  type StateUpdate,
} from '../store/index.js';
import { instant, type Instant, sleep, type Timer, within } from '../time/index.js';
import { deadlineOf, earlier, isBefore, later, safetyMarginMs } from './lease.js';
import { type Takeover } from './last-leader.js';
import { type Replica } from './replica.js';
import { type Session } from './session.js';
import { type RequestKind } from './store-client/store-client.js';
import { type Backlog, type Watermarks } from './watermarks.js';

/** How a term ended: given back, taken by another holder, not confirmed in time, or left to expire by a process that ends. */
type TermEnd = 'released' | 'preempted' | 'expired' | 'abandoned';

/** Locks of jobs are renewed at this interval, with any `lockExpiry`: followers go by the session. */
export const RENEWAL_INTERVAL_MS = 10_000;
/** How long a run waits at most until its start is recorded. */
const RECORD_START_MS = 250;
/** The longest time that `release()` takes: longer than the watchdog of a silent connection. Then it continues in the background. */
const RELEASE_MS = 2_000;
/** The pause between two attempts to confirm a lease that the clocks do not trust. */
const CONFIRMATION_PAUSE_MS = 250;

interface TermFacts {
  readonly name: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  /** How long the state beside the lock lives after a renewal. Undefined for a job: for ever. */
  readonly stateLifeMs?: number;
  /** Undefined for a lock of `LockService`: it lives for its `lockExpiryMs` only. */
  readonly session: Session | undefined;
  readonly grant: Grant;
  /** When the acquire request was sent, and in which epoch of leases (see {@link Sessions.leaseEpoch}). */
  readonly sent: Instant;
  readonly leaseEpoch: number;
  readonly known: Watermarks;
  readonly backlog: Backlog;
  /** How this replica became the leader. Reported only for jobs. */
  readonly takeover: Takeover;
  /** The schedule in words. Undefined for a lock of `LockService`. */
  readonly schedule: string | undefined;
}

/** The facts that a confirmed renewal or claim shows. */
interface Renewal {
  readonly roundTripMs: number;
  /** How far the store's clock is ahead, assuming that request and answer take equally long. */
  readonly clockOffsetMs: number;
  /** When the job was paused on all replicas. Undefined: it is not paused. */
  readonly pausedAt: number | undefined;
}

/**
 * One uninterrupted leadership of one replica: a lock that was granted under one session. The election creates it, the runner uses it. A
 * run starts only if the term is trusted at that moment. Its {@link signal} aborts the run.
 *
 * The lease has two deadlines, one for the session and one for the lock. The earlier one counts.
 */
export class Term {
  readonly #ending = new AbortController();
  readonly #startedAt: Instant;
  #end: TermEnd | undefined;
  #lockDeadline: Instant;
  /**
   * Set while the lock may be lost: the deadline of the session before that, or for a new term the deadline by its acquire request. It
   * replaces later deadlines until a request that was sent after that has confirmed the lock.
   */
  #frozen: Instant | undefined;
  #finalDeadline: Instant | undefined;
  #timer: Timer | undefined;
  #storeTime: { readonly time: number; readonly sentMs: number; readonly atMs: number };
  #renewal: Promise<void> | undefined;
  #trust: Promise<void> | undefined;
  #isRecorded = false;
  #onRenewed: ((renewal: Renewal) => void) | undefined;

  constructor(
    private readonly replica: Replica,
    readonly facts: TermFacts,
  ) {
    const { clock, client, sessions } = replica;
    const { session, sent, grant, leaseEpoch } = facts;
    this.#startedAt = instant(clock);
    this.#storeTime = { time: grant.storeTime, sentMs: sent.now, atMs: this.#startedAt.now };
    this.#lockDeadline = deadlineOf(sent, this.lifeMs);
    // a break was noticed while the request was under way, so the grant proves nothing yet
    if (session !== undefined && leaseEpoch !== sessions.leaseEpoch)
      this.#frozen = deadlineOf(sent, session.lockExpiryMs);
    const abandon = (): void => {
      this.finish('abandoned');
    };
    const expire = (): void => {
      this.finish('expired');
    };
    client.closing.addEventListener('abort', abandon);
    session?.signal.addEventListener('abort', expire);
    this.signal.addEventListener('abort', () => {
      client.closing.removeEventListener('abort', abandon);
      session?.signal.removeEventListener('abort', expire);
    });
    this.#watchDeadline();
    if (session?.isOver === true) expire();
  }

  /** What earlier leaders have left. */
  get backlog(): Backlog {
    return this.facts.backlog;
  }

  /** The newest occurrence or slot whose run began or that was reported, on any replica, 0 if none. */
  get newestTick(): number {
    return this.facts.known.newestTick;
  }

  get name(): string {
    return this.facts.name;
  }

  get grant(): Grant {
    return this.facts.grant;
  }

  /** Larger than that of every earlier term of the job. */
  get fencingToken(): number {
    return this.grant.token;
  }

  /** When the term began, on both clocks. */
  get startedAt(): Instant {
    return this.#startedAt;
  }

  /** How long the lock lives without renewal. */
  get lifeMs(): number {
    const { session, lockExpiryMs } = this.facts;
    return session === undefined ? lockExpiryMs : lockLifeMs(lockExpiryMs);
  }

  /** Aborts when the term is over, for any reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** How it ended. Undefined until then. */
  get end(): TermEnd | undefined {
    return this.#end;
  }

  /** Until then no other replica can lead, unless the lock is released or deleted. It does not change after the end of the term. */
  get deadline(): Instant {
    return this.#finalDeadline ?? this.#currentDeadline;
  }

  /** Milliseconds until the deadline, by the monotonic clock. */
  get remainingMs(): number {
    // the clock first: reading a deadline that has passed takes the reports of the heartbeat thread
    const nowMs = this.replica.clock.now();
    return this.deadline.now - nowMs;
  }

  /** Whether a run may start now. Checked again before each run. */
  isTrusted(): boolean {
    return this.#end === undefined && isBefore(this.replica.clock, this.#currentDeadline);
  }

  /** Whether the term is over, also if its signal could not fire yet. */
  isOver(): boolean {
    return this.#end !== undefined || this.remainingMs <= 0;
  }

  /** The time of the store: its latest answer plus the monotonic time since then. Behind by a round trip at most. */
  storeNow(): number {
    return this.#storeTime.time + (this.replica.clock.now() - this.#storeTime.atMs);
  }

  /** The time of the store, never behind: as if it had answered when the latest request was sent. Ahead by a round trip at most. */
  storeNowAtMost(): number {
    return this.#storeTime.time + (this.replica.clock.now() - this.#storeTime.sentMs);
  }

  /** Calls `callback` after every confirmed renewal and claim, until the term is over. */
  onRenewed(callback: (renewal: Renewal) => void): void {
    this.#onRenewed = callback;
  }

  /** Renews the lock now and at every pulse, until the term is over or the returned function is called. */
  keepAlive(): () => void {
    const { replica, signal } = this;
    const { session, lockExpiryMs } = this.facts;
    const intervalMs = session === undefined ? replica.lockRenewalMs(lockExpiryMs) : RENEWAL_INTERVAL_MS;
    // a break was noticed since the term was created
    if (session !== undefined && this.facts.leaseEpoch !== replica.sessions.leaseEpoch) this.freeze();
    const leave = replica.keep(this, intervalMs);
    signal.addEventListener('abort', leave);
    // The first renewal of a job records what the new leader found. A lock of `LockService` needs one now only if its grant came late.
    if (session !== undefined || this.remainingMs < 2 * intervalMs) void this.renew();
    return leave;
  }

  /** Locks may be lost: heartbeats do not extend this lease until a renewal that is sent from now on has confirmed the lock. */
  freeze(): void {
    const { session } = this.facts;
    if (session?.deadline !== undefined) this.#frozen ??= session.deadline;
  }

  /** Renews the lock. Resolves when it is confirmed or lost, or the term is over. A second call waits for the same answer. */
  renew(): Promise<void> {
    this.#renewal ??= this.#untilAnswered('renew', (update) =>
      this.replica.client.store.renew({ ...this.#command(), update, stateLifeMs: this.facts.stateLifeMs }),
    ).then(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** Renews after a renewal under way, so that the request is sent after this call. */
  async renewAfresh(): Promise<void> {
    await this.#renewal;
    if (!this.isOver()) await this.renew();
  }

  /** Resolves when the term is trusted, or over. It sends a heartbeat and a renewal at once. */
  untilTrusted(): Promise<void> {
    this.#trust ??= this.#untilTrusted().finally(() => {
      this.#trust = undefined;
    });
    return this.#trust;
  }

  /** Claims a cron occurrence. Sends the request until there is an answer. Undefined: the term was over first. */
  async claim(scheduledAt: number): Promise<ClaimResult | undefined> {
    const { fencingToken: token } = this;
    const result = await this.#untilAnswered('claim', (update) =>
      this.replica.client.store.claim({ ...this.#command(), token, scheduledAt, update }),
    );
    if (result !== undefined) this.facts.known.claimedUpTo(result.claimed);
    return result;
  }

  /** The run of this occurrence has begun, or the occurrence was reported. The next request records it. */
  handled(scheduledAt: number): void {
    this.facts.known.handledUpTo(scheduledAt);
  }

  /** The run of this slot of a fixed rate has begun. The next request records it. */
  slotFired(slot: number): void {
    this.facts.known.slotFired(slot);
  }

  /** An interval run is about to begin. Resolves when the store has recorded that, after 0.25 s at the latest. */
  async runStarts(): Promise<void> {
    this.facts.known.runStarted(this.storeNowAtMost());
    await within(this.replica.clock, RECORD_START_MS, this.renewAfresh());
  }

  /** An interval run has ended. The next request records it. */
  runEnded(): void {
    // an earlier time would shorten the delay
    this.facts.known.runEnded(this.storeNowAtMost());
  }

  /**
   * Ends the term and frees its lock. Resolves to whether the store has confirmed that, within 2 s. If not, the release continues in the
   * background, and the lock expires by itself. Called also for a term that has already ended, when nothing of it runs. Never rejects.
   */
  async release(): Promise<boolean> {
    // the timer of a passed deadline may not have fired yet
    this.finish(this.remainingMs > 0 ? 'released' : 'expired');
    if (this.#end === 'preempted') return true;
    const { name, holder } = this.facts;
    const request = { name, holder, token: this.fencingToken, update: this.#finalUpdate() };
    // an expired lock needs no release
    const lockRemainingMs = this.#lockDeadline.now + safetyMarginMs(this.lifeMs) - this.replica.clock.now();
    return this.replica.release(request, RELEASE_MS, Math.max(lockRemainingMs, RELEASE_MS));
  }

  /** Ends the term in this process only. The lock stays in the store. */
  finish(end: TermEnd): void {
    if (this.#end !== undefined) return;
    this.#finalDeadline = this.#currentDeadline;
    this.#end = end;
    this.#timer?.cancel();
    this.#ending.abort();
  }

  get #currentDeadline(): Instant {
    const { session } = this.facts;
    if (session === undefined) return this.#lockDeadline;
    return earlier(this.#lockDeadline, this.#frozen ?? session.deadline ?? this.#lockDeadline);
  }

  #command() {
    return { name: this.name, holder: this.facts.holder, lifeMs: this.lifeMs };
  }

  /** Until a request is confirmed, every request records what the new leader found. */
  #update(): StateUpdate {
    const { known, schedule } = this.facts;
    if (schedule === undefined) return {};
    return this.#isRecorded ? known.progress : { ...known.progress, claimed: known.claimed, schedule };
  }

  async #untilTrusted(): Promise<void> {
    while (!this.isTrusted() && !this.isOver()) {
      const { clock, sessions } = this.replica;
      const triedMs = clock.now();
      await Promise.all([sessions.refresh(this.signal), within(clock, CONFIRMATION_PAUSE_MS, this.renewAfresh())]);
      const pauseMs = triedMs + CONFIRMATION_PAUSE_MS - clock.now();
      if (!this.isTrusted() && pauseMs > 0) await sleep(clock, pauseMs, this.signal);
    }
    // after the deadline the signal fires as soon as the event loop turns
    if (this.isOver() && !this.signal.aborted) await aborted(this.signal);
  }

  #finalUpdate(): StateUpdate {
    return this.facts.schedule === undefined ? {} : { ...this.#update(), claimed: this.facts.known.claimed };
  }

  #untilAnswered<R extends RenewResult | ClaimResult>(
    kind: RequestKind,
    send: (update: StateUpdate) => Promise<R>,
  ): Promise<R | undefined> {
    const { client, clock, sessions } = this.replica;
    const request = async (): Promise<R> => {
      const sent = instant(clock);
      const { leaseEpoch } = sessions;
      const result = await send(this.#update());
      // a late answer counts too: a yes counts from the time the request was sent, and a no is final
      this.#learnTime(result.storeTime, sent);
      if (isHeld(result)) this.#renewed(sent, leaseEpoch, result);
      else this.#lose(result.holder);
      return result;
    };
    return client.untilAnswered({ name: this.name, kind, signal: this.signal, send: request });
  }

  #renewed(sent: Instant, leaseEpoch: number, { storeTime, pausedAt }: RenewResult | ClaimResult): void {
    if (this.isOver()) return;
    this.#isRecorded = true;
    if (this.#frozen !== undefined) {
      // another replica may have led since: only a lease that never ran out continues
      if (!this.isTrusted()) {
        this.finish('expired');
        return;
      }
      if (leaseEpoch === this.replica.sessions.leaseEpoch) this.#frozen = undefined;
    }
    this.#lockDeadline = later(deadlineOf(sent, this.lifeMs), this.#lockDeadline);
    const { now, wall } = instant(this.replica.clock);
    this.#onRenewed?.({ roundTripMs: now - sent.now, clockOffsetMs: storeTime - (sent.wall + wall) / 2, pausedAt });
  }

  #lose(holder: Holder | undefined): void {
    this.finish('preempted');
    this.replica.lostTo(this, holder);
  }

  /** The answer to an older request is less exact, so it is ignored. */
  #learnTime(time: number, sent: Instant): void {
    if (sent.now < this.#storeTime.sentMs) return;
    this.#storeTime = { time, sentMs: sent.now, atMs: this.replica.clock.now() };
  }

  #watchDeadline(): void {
    this.#timer = this.replica.clock.setTimer(Math.max(this.remainingMs, 0), () => {
      // renewals do not move the timer: when it fires, it checks for a new deadline
      if (this.remainingMs > 0) this.#watchDeadline();
      else this.finish('expired');
    });
  }
}

function isHeld(result: RenewResult | ClaimResult): boolean {
  return 'held' in result ? result.held : result.outcome !== 'not-leader';
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
