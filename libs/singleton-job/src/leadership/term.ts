import {
  type ClaimResult,
  type Grant,
  type Holder,
  lockLifeMs,
  type RenewResult,
  type StateUpdate,
} from '../store/index.js';
import { type RequestKind } from '../store/client/index.js';
import { instant, type Instant, sleep, type Timer } from '../time/index.js';
import { type Inherited, type KnownState } from './known-state.js';
import { deadlineOf, earlier, isBefore, later, safetyMarginMs } from './lease.js';
import { type Takeover } from './last-leader.js';
import { type Replica } from './replica.js';
import { type Session } from './session.js';

/** How a term ended: given back, taken by another holder, not confirmed in time, or left to expire by a process that ends. */
type TermEnd = 'released' | 'preempted' | 'expired' | 'abandoned';

/** Locks of jobs are renewed at this interval, whatever their `lockExpiry`: their sessions are what followers go by. */
export const RENEWAL_INTERVAL_MS = 10_000;
/** How long a release is tried at least. */
const SHORTEST_RELEASE_MS = 1_000;
/** How long `release()` of a lock of `LockService` takes at most. The lock is released in the background after that. */
const LONGEST_LOCK_RELEASE_MS = 2_000;
/** Between two tries to get a lease confirmed that the clocks do not trust. */
const CONFIRMATION_PAUSE_MS = 250;

interface TermFacts {
  readonly name: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  /** Undefined for a lock of `LockService`: it lives for its `lockExpiryMs` only. */
  readonly session: Session | undefined;
  readonly grant: Grant;
  /** When the acquire request was sent, and in which epoch of leases (see {@link Sessions.leaseEpoch}). */
  readonly sent: Instant;
  readonly leaseEpoch: number;
  readonly known: KnownState;
  /** What earlier leaders have left. Undefined for a lock of `LockService`. */
  readonly inherited: Inherited | undefined;
  /** How it came about. Reported for a job only. */
  readonly takeover: Takeover;
  /** Kind and hash of the schedule. Undefined for a lock of `LockService`. */
  readonly schedule: string | undefined;
  /** Occurrences that came due before then, by the clock of the store, may have been claimed by a claim that is lost. */
  readonly claimsLostBefore: number;
  /** When the session sent its last heartbeat whose lock was taken over. Undefined: the lock was free. */
  readonly predecessorLastHeartbeat: number | undefined;
}

/** What a confirmed renewal or claim has shown. */
interface Renewal {
  readonly roundTripMs: number;
  /** How far the store's clock is ahead, taking the way there to be as long as the way back. */
  readonly clockOffsetMs: number;
  /** When the job was paused on all replicas. Undefined: it was not. */
  readonly pausedAt: number | undefined;
}

/**
 * One uninterrupted leadership of one replica: a lock won under one session. The election hands it out, the runner spends it. No
 * run starts unless the term is trusted at that moment, and its {@link signal} aborts what runs.
 *
 * The lease has two deadlines, one for the session and one for the lock. The earlier one counts.
 */
export class Term {
  readonly #ending = new AbortController();
  readonly #startedAt: Instant;
  #end: TermEnd | undefined;
  #lockDeadline: Instant;
  /**
   * The deadline of the session from before locks may have been lost; of a new term, as far as its acquire request vouches for it. It
   * counts instead of the later ones until a request that was sent since then has confirmed the lock.
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
    // a break was noticed while the request was under way: it proves nothing yet
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

  /** Occurrences and slots up to here were dealt with, or reported, before this term began. */
  get newestClaimedBefore(): number {
    return this.facts.inherited?.newestClaimed ?? 0;
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

  /** What this process knows of the job. */
  get known(): KnownState {
    return this.facts.known;
  }

  /** When it began, on both clocks. */
  get startedAt(): Instant {
    return this.#startedAt;
  }

  /** How long the lock lives without renewal. */
  get lifeMs(): number {
    const { session, lockExpiryMs } = this.facts;
    return session === undefined ? lockExpiryMs : lockLifeMs(lockExpiryMs);
  }

  /** Aborts when the term is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** How it ended; undefined while it goes on. */
  get end(): TermEnd | undefined {
    return this.#end;
  }

  /** Until when no other replica can lead unless the lock is released or deleted. Stays as it was when the term ended. */
  get deadline(): Instant {
    return this.#finalDeadline ?? this.#currentDeadline;
  }

  /** Until the deadline, by the monotonic clock, unless the lease is confirmed. */
  get remainingMs(): number {
    // the clock first: if the deadline has passed by then, reading it takes the reports of the heartbeat thread, and it stays passed
    const nowMs = this.replica.clock.now();
    return this.deadline.now - nowMs;
  }

  /** Whether a run may start now. Checked again before each run. */
  isTrusted(): boolean {
    return this.#end === undefined && isBefore(this.replica.clock, this.#currentDeadline);
  }

  /** Whether the term is over, even if its signal could not say so yet. */
  isOver(): boolean {
    return this.#end !== undefined || this.remainingMs <= 0;
  }

  /** The store's clock: its latest answer plus the monotonic time since. Behind by a round trip at most. */
  storeNow(): number {
    return this.#storeTime.time + (this.replica.clock.now() - this.#storeTime.atMs);
  }

  /** The store's clock, not behind: it may have answered right when its latest request was sent. Ahead by a round trip at most. */
  storeNowAtMost(): number {
    return this.#storeTime.time + (this.replica.clock.now() - this.#storeTime.sentMs);
  }

  /** Calls back after every confirmed renewal and claim, until the term is over. */
  onRenewed(callback: (renewal: Renewal) => void): void {
    this.#onRenewed = callback;
  }

  /** Renews the lock now and at every pulse, until the term is over or the returned function is called. */
  keepAlive(): () => void {
    const { replica, signal } = this;
    const { session, lockExpiryMs } = this.facts;
    const intervalMs = session === undefined ? replica.lockRenewalMs(lockExpiryMs) : RENEWAL_INTERVAL_MS;
    // a break that was noticed since the term was made
    if (session !== undefined && this.facts.leaseEpoch !== replica.sessions.leaseEpoch) this.freeze();
    const leave = replica.keep(this, intervalMs);
    signal.addEventListener('abort', leave);
    // the first renewal records what the new leader has found; a grant that came late leaves a lock of `LockService` little time
    if (session !== undefined || this.remainingMs < 2 * intervalMs) void this.renew();
    return leave;
  }

  /** Locks may be lost: heartbeats extend this lease no longer, until a renewal that is sent from now on has confirmed the lock. */
  freeze(): void {
    const { session } = this.facts;
    if (session?.deadline !== undefined) this.#frozen ??= session.deadline;
  }

  /** Renews the lock: until it is confirmed, lost or over. A second call meanwhile waits for the same answer. */
  renew(): Promise<void> {
    this.#renewal ??= this.#untilAnswered('renew', (update) =>
      this.replica.client.store.renew({ ...this.#command(), update }),
    ).then(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** Renews with what is known now: a renewal under way may have been sent before. */
  async renewAfresh(): Promise<void> {
    await this.#renewal;
    if (!this.isOver()) await this.renew();
  }

  /** Resolves when the term is trusted, or over. Heartbeats and renewals go on by themselves; this sends both at once. */
  untilTrusted(): Promise<void> {
    this.#trust ??= this.#untilTrusted().finally(() => {
      this.#trust = undefined;
    });
    return this.#trust;
  }

  /** Claims a cron occurrence: sends the request until the answer is certain. Undefined when the term was over first. */
  async claim(scheduledAt: number): Promise<ClaimResult | undefined> {
    const { fencingToken: token } = this;
    const result = await this.#untilAnswered('claim', (update) =>
      this.replica.client.store.claim({ ...this.#command(), token, scheduledAt, update }),
    );
    if (result !== undefined) this.known.claimed(result.newestClaimed);
    return result;
  }

  /**
   * Ends the term and frees its lock. Resolves to whether the store has confirmed that; otherwise the lock expires by itself. Also
   * for a term that ended otherwise, once nothing of it runs. Never rejects.
   */
  async release(): Promise<boolean> {
    // a deadline that has passed may not have fired its timer yet
    this.finish(this.remainingMs > 0 ? 'released' : 'expired');
    if (this.#end === 'preempted') return true;
    const { name, holder, lockExpiryMs } = this.facts;
    const nowMs = this.replica.clock.now();
    const request = { name, holder, token: this.fencingToken, update: this.#finalUpdate() };
    // from then on other replicas may take the lock: nothing is gained by waiting. A caller of `LockService` waits for two seconds
    const restMs = Math.max(this.deadline.now + safetyMarginMs(lockExpiryMs) - nowMs, SHORTEST_RELEASE_MS);
    const waitMs = this.facts.session === undefined ? Math.min(restMs, LONGEST_LOCK_RELEASE_MS) : restMs;
    // once the lock has expired there is nothing to free
    const lockRemainingMs = this.#lockDeadline.now + safetyMarginMs(this.lifeMs) - nowMs;
    return this.replica.release(request, waitMs, Math.max(lockRemainingMs, waitMs));
  }

  /** Ends the term in this process only; the lock stays in the store. */
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

  /** Until the first one is confirmed, every request records what the new leader has found. */
  #update(): StateUpdate {
    const { known } = this;
    const { schedule } = this.facts;
    if (schedule === undefined) return {};
    return this.#isRecorded ? known.progress : { ...known.progress, newestClaimed: known.newestClaimed, schedule };
  }

  async #untilTrusted(): Promise<void> {
    while (!this.isTrusted() && !this.isOver()) {
      await Promise.all([this.replica.sessions.refresh(), this.renewAfresh()]);
      if (!this.isTrusted()) await sleep(this.replica.clock, CONFIRMATION_PAUSE_MS, this.signal);
    }
    // past the deadline the signal follows as soon as the loop turns
    if (this.isOver() && !this.signal.aborted) await aborted(this.signal);
  }

  #finalUpdate(): StateUpdate {
    return this.facts.schedule === undefined ? {} : { ...this.#update(), newestClaimed: this.known.newestClaimed };
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
      // also for an answer that comes late: counted from the time it was sent, a late yes is as good as any, and a no is final
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
      // meanwhile another replica may have led: only a lease that never ran out goes on
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

  /** An answer that was overtaken knows less of the store's clock. */
  #learnTime(time: number, sent: Instant): void {
    if (sent.now < this.#storeTime.sentMs) return;
    this.#storeTime = { time, sentMs: sent.now, atMs: this.replica.clock.now() };
  }

  #watchDeadline(): void {
    this.#timer = this.replica.clock.setTimer(Math.max(this.remainingMs, 0), () => {
      // confirmations do not touch the timer: it finds out here that the deadline has moved
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
