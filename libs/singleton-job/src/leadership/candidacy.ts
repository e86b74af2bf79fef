import { asLockStoreError, type LockStoreError } from '../errors/index.js';
import { type Grant, type Holder, ownerOf, type Progress, type Refusal, type ReleaseMessage } from '../store/index.js';
import { attemptDeadlineMs } from '../options/index.js';
import { instant, type Instant, type Timer } from '../time/index.js';
import { backoffMs } from './backoff.js';
import { aftermathOf } from './data-loss.js';
import { JobMemory } from './job-memory.js';
import { type Answered, OpenBid } from './open-bid.js';
import { type Replica } from './replica.js';
import { Term } from './term.js';
import { Waker } from './waker.js';

/** What is elected for: a job, as far as an election needs to know it. */
export interface Contest {
  readonly job: string;
  readonly lockExpiryMs: number;
  /** From the start of this replica until it contends. */
  readonly initialDelayMs: number;
  /** Kind, and hash of kind, expression and zone. */
  readonly schedule: string;
  /** For a lock that is no job's: see {@link Bid.stateTtlMs}. */
  readonly stateTtlMs?: number;
  /** What this process knows of it already. */
  readonly memory?: JobMemory;
  /** Is told what a bid met with that was not granted: somebody else's lock, or a failure. */
  readonly turnedAway?: (by: Refusal | LockStoreError) => void;
}

/** Followers that hear a release with this many others ask at once; each one more spreads them by 2 ms. */
const RECEIVERS_AT_ONCE = 3;
const SPREAD_PER_RECEIVER_MS = 2;
const LEAST_JITTER_MS = 20;
const JITTER_PER_JOB_MS = 0.5;

/** The follower's part of an election: bids for the lock, and waits for it to come free without asking often. */
export class Candidacy {
  readonly memory: JobMemory;
  readonly #waker = new Waker();
  #spread: { readonly by: string; readonly timer: Timer } | undefined;
  #term: Term | undefined;
  #rival: { readonly holder: Holder; readonly untilMs: number } | undefined;
  #isBidding = false;

  constructor(
    private readonly replica: Replica,
    private readonly contest: Contest,
  ) {
    this.memory = contest.memory ?? new JobMemory(replica.clock);
  }

  /** Who holds the lock, as this replica last heard; undefined when that is too long ago to be true still. */
  get rival(): Holder | undefined {
    return this.#rival !== undefined && this.replica.clock.now() <= this.#rival.untilMs
      ? this.#rival.holder
      : undefined;
  }

  /** Whether it wants the lock now: only then does it find out who has it. */
  get isBidding(): boolean {
    return this.#isBidding;
  }

  /** The lock may be free, or the store can be asked again. */
  readonly wake = (): void => {
    this.#waker.wake();
  };

  readonly reconnected = (): void => {
    this.memory.untold();
  };

  /** The lock was released by somebody. */
  readonly heard = ({ by, receivers }: ReleaseMessage): void => {
    const { clock, random } = this.replica;
    if (this.#rival !== undefined && ownerOf(this.#rival.holder) === by) this.#rival = undefined;
    const spreadMs = random() * Math.max(0, receivers - RECEIVERS_AT_ONCE) * SPREAD_PER_RECEIVER_MS;
    this.#spread?.timer.cancel();
    this.#spread = undefined;
    if (spreadMs === 0) this.#waker.wake();
    else this.#spread = { by, timer: clock.setTimer(spreadMs, this.wake) };
  };

  /** Bids until it wins a term. Undefined when it was stopped; then nothing of a bid is left behind. */
  async win(stop: AbortSignal): Promise<Term | undefined> {
    const quit = (): void => {
      this.#isBidding = false;
      this.#spread?.timer.cancel();
      this.#waker.wake();
    };
    stop.addEventListener('abort', quit);
    const leave = this.replica.asks(this.contest.job);
    this.replica.following += 1;
    this.#isBidding = true;
    try {
      while (!stop.aborted) {
        const result = await this.#bid(stop);
        if (result instanceof Term) return result;
        if (result !== undefined) await this.#heldByAnother(result, stop);
      }
      return undefined;
    } finally {
      leave();
      this.replica.following -= 1;
      this.#isBidding = false;
      stop.removeEventListener('abort', quit);
    }
  }

  /** Bids once, until the answer is certain. Undefined when it was stopped before. */
  async #bid(stop: AbortSignal): Promise<Term | Refusal | undefined> {
    const { identity } = this.replica;
    const holder = identity.nextHolder();
    const answered = await this.#ask(holder, stop);
    if (answered?.answer.granted === true) return this.#open(holder, answered.answer, answered.sent);
    identity.retire(holder);
    return answered?.answer;
  }

  #open(holder: Holder, grant: Grant, sent: Instant): Term {
    const { job, lockExpiryMs, schedule } = this.contest;
    const { memory } = this;
    this.#rival = undefined;
    const aftermath = aftermathOf({ grant, sent, memory, lockExpiryMs, previous: this.#term });
    memory.sawTtl(lockExpiryMs);
    this.#term = new Term(this.replica, { job, holder, lockExpiryMs, schedule, memory, grant, sent, ...aftermath });
    return this.#term;
  }

  /** One bid, repeated under its number until the answer is certain. Undefined when it was stopped and withdrawn. */
  async #ask(holder: Holder, stop: AbortSignal): Promise<Answered | undefined> {
    const bid = new OpenBid(this.replica.clock, this.contest.lockExpiryMs, stop);
    try {
      for (let failures = 0; !stop.aborted; failures++) {
        const answered = (await this.#try(holder, bid, failures)) ?? bid.takeLateGrant();
        if (answered !== undefined) return answered;
      }
    } finally {
      bid.close();
    }
    if (bid.mayHaveArrived) await this.#withdraw(holder);
    return undefined;
  }

  /** The answer in time; undefined when there is none, and it is time to look again. */
  async #try(holder: Holder, bid: OpenBid, failures: number): Promise<Answered | undefined> {
    const { gate, store, clock, bids } = this.replica;
    const { job, lockExpiryMs, schedule, stateTtlMs } = this.contest;
    const terms = { ...(stateTtlMs !== undefined && { stateTtlMs }), lockExpiryMs, schedule };
    const send = async (): Promise<Answered> => {
      const sent = instant(clock);
      this.#waker.clear();
      const seen = this.memory.seen();
      const answer = await bid.try(() => store.acquire({ name: job, holder, ...terms, ...seen }));
      this.memory.learn(answer);
      this.replica.complaints.settle({ job, what: 'bid' });
      bid.answered({ answer, sent });
      return { answer, sent };
    };
    const deadlineMs = attemptDeadlineMs(lockExpiryMs);
    try {
      await gate.pause(job, bid.done);
      return await bids.run(() => gate.ask({ job, asker: 'bid', deadlineMs, signal: bid.done, send }), bid.done);
    } catch (error: unknown) {
      const failure = asLockStoreError(error);
      this.contest.turnedAway?.(failure);
      await this.#waitAfter(failure, failures);
      return undefined;
    }
  }

  /**
   * While the store is unreachable the gate sets the pace. What it refuses is asked with back-off, and at once when it
   * has done for another job what it refused.
   */
  async #waitAfter(error: LockStoreError, failures: number): Promise<void> {
    if (error.code === 'STORE_UNREACHABLE') return;
    const { settings, random, clock } = this.replica;
    this.replica.complaints.raise({ job: this.contest.job, what: 'bid' }, error);
    const isFull = error.code === 'STORE_REFUSED_WRITE';
    await this.#waker.wait(clock, isFull ? this.replica.refusalPauseMs() : backoffMs(failures, settings, random));
  }

  /** Waits until the lock may be free: a release is heard of, or its time to live has passed. */
  async #heldByAnother(refusal: Refusal, stop: AbortSignal): Promise<void> {
    const { holder, ttlMs, mended } = refusal;
    const { identity, store, clock, random, settings, notify, following } = this.replica;
    // the next question is asked when the lock would have expired, and has a heartbeat to be answered in
    this.#rival = { holder, untilMs: clock.now() + ttlMs + settings.heartbeatIntervalMs };
    if (mended) notify('lockMended', { job: this.contest.job, holder });
    // a bid of ours that was given up has arrived after all; nothing of the job runs here, so nobody needs it
    if (identity.isStray(holder) && (await this.#withdraw(holder))) return;
    // who leads under the state of our last term leads beside its lease, should that not have ended yet: it excluded nobody
    if (this.#term?.grant.born === refusal.born) this.#term = undefined;
    this.contest.turnedAway?.(refusal);
    if (stop.aborted) return;
    // somebody else was faster than this follower, which was waiting its turn after a release
    if (this.#spread !== undefined && this.#spread.by !== ownerOf(holder)) this.#spread.timer.cancel();
    const jitterMs = random() * Math.max(LEAST_JITTER_MS, following * JITTER_PER_JOB_MS);
    const mustPoll = ownerOf(holder) === undefined || !store.hearsReleases;
    const waitMs = mustPoll ? Math.min(ttlMs, settings.heartbeatIntervalMs) : ttlMs;
    // a lock lives through the last millisecond of its time
    await this.#waker.wait(clock, waitMs + 1 + jitterMs);
  }

  #withdraw(holder: Holder): Promise<boolean> {
    const { job, lockExpiryMs } = this.contest;
    const progress = (): Progress => this.memory.final();
    return this.replica.releases.free({ job, holder, progress, deadlineMs: attemptDeadlineMs(lockExpiryMs) });
  }
}
