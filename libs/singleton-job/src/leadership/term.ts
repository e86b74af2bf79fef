import { asLockStoreError, type LockStoreError } from '../errors/index.js';
import { type ClaimAnswer, type Grant, type Holder, type Progress } from '../store/index.js';
import { attemptDeadlineMs, safetyMarginMs } from '../options/index.js';
import { instant, type Instant, sleep } from '../time/index.js';
import { type Aftermath } from './data-loss.js';
import { Inquiry } from './inquiry.js';
import { type JobMemory } from './job-memory.js';
import { Lease, type LeaseEnd } from './lease.js';
import { type Replica } from './replica.js';

export interface TermFacts extends Aftermath {
  readonly job: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  /** Kind, and hash of kind, expression and zone. */
  readonly schedule: string;
  readonly memory: JobMemory;
  readonly grant: Grant;
  /** When the bid that won was sent. */
  readonly sent: Instant;
}

/** What a confirmed renewal has shown. */
export interface Confirmation {
  readonly roundTripMs: number;
  /** How far the store's clock is ahead, taking the way there to be as long as the way back. */
  readonly clockOffsetMs: number;
}

/**
 * One uninterrupted leadership of one replica. The election hands it out, the runner spends it: no run starts unless the
 * term is trusted at that moment, and its {@link signal} ends what runs.
 */
export class Term {
  /** It starts nothing before this instant. */
  readonly firstRun: Instant;
  readonly #lease: Lease;
  #storeTime: { readonly time: number; readonly sentMs: number; readonly atMs: number };
  #renewal: Promise<void> | undefined;
  #onConfirmed: ((confirmation: Confirmation) => void) | undefined;

  constructor(
    private readonly replica: Replica,
    readonly facts: TermFacts,
  ) {
    const { clock, closing } = replica;
    const { lockExpiryMs, sent, grant, waitMs } = facts;
    const { now, wall } = instant(clock);
    this.firstRun = { now: now + waitMs, wall: wall + waitMs };
    this.#storeTime = { time: grant.time, sentMs: sent.now, atMs: now };
    this.#lease = new Lease(clock, { lockExpiryMs, safetyMarginMs: safetyMarginMs(lockExpiryMs) }, sent);
    const abandon = (): void => {
      this.finish('abandoned');
    };
    closing.addEventListener('abort', abandon);
    this.signal.addEventListener('abort', () => {
      closing.removeEventListener('abort', abandon);
    });
  }

  /** What Redis knew when the term began. */
  get grant(): Grant {
    return this.facts.grant;
  }

  /** Larger than that of every earlier term of the job. */
  get fencingToken(): number {
    return this.grant.token;
  }

  /** What this process knows of the job, to be told to Redis. */
  get memory(): JobMemory {
    return this.facts.memory;
  }

  /** Aborts when the term is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  /** How it ended; undefined while it goes on. */
  get end(): LeaseEnd | undefined {
    return this.#lease.end;
  }

  /** Until the safe deadline, unless it is renewed. */
  get remainingMs(): number {
    return this.#lease.remainingMs;
  }

  /** Whether a run may start now: asked anew before each. */
  isTrusted(): boolean {
    return this.#lease.isTrusted();
  }

  /** How long it must still wait before its first run. */
  get waitMs(): number {
    return Math.max(this.firstRun.now - this.replica.clock.now(), 0);
  }

  /** Whether the lock was this term's at `at`, also if the term has ended since. */
  covers(at: Instant): boolean {
    return this.#lease.covers(at);
  }

  /** Whether the term is over, even if its signal could not say so yet. */
  isOver(): boolean {
    return this.#lease.isOver();
  }

  /** The store's clock: its latest answer plus the monotonic time since. Behind by a round trip at most. */
  storeNow(): number {
    return this.#storeTime.time + (this.replica.clock.now() - this.#storeTime.atMs);
  }

  /** Asks for a renewal at once, and resolves when the term is trusted again or over. */
  async confirmation(): Promise<void> {
    while (!this.isTrusted() && !this.isOver()) await this.renew();
    // past the deadline the signal follows as soon as the loop turns
    if (this.isOver() && !this.signal.aborted) await aborted(this.signal);
  }

  /** Tells from now on of every confirmed renewal and claim, until the term is over. */
  onConfirmed(tell: (confirmation: Confirmation) => void): void {
    this.#onConfirmed = tell;
  }

  /** Renews the lease: asks until it is confirmed, lost or over. Who asks for it meanwhile waits for the same answer. */
  renew(): Promise<void> {
    const command = this.#command();
    this.#renewal ??= this.#ask(
      (progress) => this.replica.store.renew({ ...command, progress }),
      (answer) => answer.held,
    ).then(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** Renews with what is known now: a renewal under way may have been sent before. */
  async renewAfresh(): Promise<void> {
    await this.#renewal;
    await this.renew();
  }

  /** Takes a cron occurrence: asks until the answer is certain. Undefined when the term was over first. */
  async claim(scheduledAt: number): Promise<ClaimAnswer | undefined> {
    const command = { ...this.#command(), scheduledAt, token: this.fencingToken };
    const answer = await this.#ask(
      (progress) => this.replica.store.claim({ ...command, progress }),
      ({ outcome }) => outcome !== 'not-leader',
    );
    if (answer !== undefined) this.memory.claimed(answer.last);
    return answer;
  }

  /** Ends the term here. Telling the store is the election's part. */
  finish(end: LeaseEnd): void {
    this.#lease.finish(end);
  }

  #command() {
    const { job, holder, lockExpiryMs } = this.facts;
    return { name: job, holder, lockExpiryMs };
  }

  async #ask<T extends { readonly time: number }>(
    send: (progress: Progress) => Promise<T>,
    isStillOurs: (answer: T) => boolean,
  ): Promise<T | undefined> {
    const { replica } = this;
    const { job, lockExpiryMs } = this.facts;
    const inquiry = new Inquiry<T>(this.signal);
    // its last try may be under way for longer than the term
    const leave = replica.asks(job);
    const question = async (): Promise<T> => {
      const sent = instant(replica.clock);
      const { progress, confirm } = this.memory.unconfirmed();
      const answer = await send(progress);
      // runs for late answers too: counted from the time sent, a late yes is as good as any, and a no is final
      this.#learnTime(answer.time, sent);
      replica.complaints.settle({ job, what: 'lease' });
      if (isStillOurs(answer)) {
        confirm();
        this.#lease.confirm(sent);
        this.#tellConfirmed(answer.time, sent);
      } else {
        this.finish('preempted');
      }
      inquiry.answered(answer);
      return answer;
    };
    const deadlineMs = attemptDeadlineMs(lockExpiryMs);
    while (!this.isOver() && !inquiry.done.aborted) {
      try {
        await replica.gate.ask({ job, asker: 'leader', deadlineMs, signal: inquiry.done, send: question });
      } catch (error: unknown) {
        await this.#waitAfter(asLockStoreError(error));
      }
    }
    inquiry.close();
    leave();
    return inquiry.answer;
  }

  #tellConfirmed(time: number, sent: Instant): void {
    if (this.#onConfirmed === undefined || this.isOver()) return;
    const { now, wall } = instant(this.replica.clock);
    this.#onConfirmed({ roundTripMs: now - sent.now, clockOffsetMs: time - (sent.wall + wall) / 2 });
  }

  /** An answer that was overtaken knows less of the store's clock. */
  #learnTime(time: number, sent: Instant): void {
    if (sent.now < this.#storeTime.sentMs) return;
    this.#storeTime = { time, sentMs: sent.now, atMs: this.replica.clock.now() };
  }

  /** While the store is unreachable the gate sets the pace. */
  async #waitAfter(error: LockStoreError): Promise<void> {
    if (error.code === 'STORE_UNREACHABLE') return;
    const { settings, random, clock } = this.replica;
    this.replica.complaints.raise({ job: this.facts.job, what: 'lease' }, error);
    await sleep(clock, (settings.heartbeatIntervalMs / 12) * (1 + random()), this.signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
