import { afterTtlMs, deadlineOf, isBefore, type Replica, Term, type Waiter } from '../leadership/index.js';
import { givenKey, LockStoreError } from '../errors/index.js';
import { type AcquireRequest, type AcquireResult, type Holder, type Refusal } from '../store/index.js';
import { instant, type Instant, Sleeper } from '../time/index.js';
import { type KnownLock, STATE_LIFE_MS } from './known-locks.js';
import { type LockRequest } from './lock-request.js';

/** A request, with what this process knows about the lock. */
export interface InformedRequest extends LockRequest {
  readonly known: KnownLock;
}

/** How long to wait for an answer of Redis. The first request may have to connect. */
const ANSWER_MS = 2_000;
/** How often a waiting request is sent again without a subscription. */
const REQUEST_EVERY_MS = 10_000;

/**
 * Acquires a lock, or waits for it as long as the request allows. Null: another holder has the lock, or `stop` aborted.
 *
 * @throws LockStoreError when it is not known who has the lock
 */
export function winLock(replica: Replica, request: InformedRequest, stop: AbortSignal): Promise<Term | null> {
  return new LockWaiter(replica, request, stop).win();
}

/** One request for a lock. It has no session, so it goes by the life of the lock and the messages about releases. */
class LockWaiter implements Waiter {
  readonly #sleeper: Sleeper;
  /** Aborts when `stop` aborts, and when waiting is over. */
  readonly #quitting = new AbortController();
  /** Why there is no answer. Undefined: the answer is that another holder has the lock. */
  #failure: LockStoreError | undefined;
  #hasTime: boolean;

  constructor(
    private readonly replica: Replica,
    private readonly request: InformedRequest,
    private readonly stop: AbortSignal,
  ) {
    this.#sleeper = new Sleeper(replica.clock, this.#quitting.signal);
    this.#failure = this.#noAnswer();
    this.#hasTime = request.waitMs > 0;
  }

  released(): void {
    this.#sleeper.wakeIn(0);
  }

  subscriptionChanged(): void {
    this.#sleeper.wakeIn(0);
  }

  async win(): Promise<Term | null> {
    const { clock } = this.replica;
    const { name, waitMs } = this.request;
    const quit = (): void => {
      this.#quitting.abort();
    };
    const timers = [
      clock.setTimer(waitMs, () => {
        this.#hasTime = false;
        if (this.#failure === undefined) quit();
      }),
      clock.setTimer(Math.max(waitMs, ANSWER_MS), quit),
    ];
    this.stop.addEventListener('abort', quit);
    if (this.stop.aborted) quit();
    const leave = this.replica.enter(name, this);
    this.#sleeper.wakeIn(0);
    try {
      while (!this.#quitting.signal.aborted) {
        await this.#sleeper.untilDue();
        const term = await this.#acquire();
        if (term !== undefined) return term;
      }
      if (this.stop.aborted) return null;
      // without a connection it is not known whether the holder still has it
      if (this.#failure === undefined && !this.replica.client.isConnected) this.#failure = this.#noAnswer();
      if (this.#failure !== undefined) throw this.#failure;
      return null;
    } finally {
      for (const timer of timers) timer.cancel();
      this.stop.removeEventListener('abort', quit);
      this.#sleeper.reset();
      leave();
    }
  }

  async #acquire(): Promise<Term | undefined> {
    const { replica } = this;
    const { name, expiryMs, known } = this.request;
    const { signal } = this.#quitting;
    if (signal.aborted) return undefined;
    this.#sleeper.reset();
    if (known.waitMs > 0) {
      this.#mustWait(known.waitMs);
      return undefined;
    }
    const holder = replica.nextHolder();
    const sent: { last: Instant | undefined } = { last: undefined };
    const send = (): Promise<AcquireResult | undefined> =>
      replica.acquires.run(() => {
        sent.last = instant(replica.clock);
        return replica.client.store.acquire(this.#acquireRequest(holder));
      }, signal);
    const onFailure = (error: LockStoreError): void => {
      this.#failure = error;
      // a store that denies a request will deny it again; an unreachable store may answer soon
      if (error.code !== 'STORE_UNREACHABLE') this.#quitting.abort();
    };
    const result = await replica.client.untilAnswered({ name, kind: 'acquire', signal, send, onFailure });
    if (result === undefined) {
      // the lock may have been granted all the same
      const release = { name, holder, token: 0, update: {} };
      if (sent.last !== undefined) replica.releaseInBackground(release, expiryMs);
      return undefined;
    }
    if (!result.granted) {
      this.#refused(result);
      return undefined;
    }
    known.granted(result);
    if (sent.last === undefined || !isBefore(replica.clock, deadlineOf(sent.last, expiryMs))) {
      // the lock was granted too late to be useful
      replica.releaseInBackground({ name, holder, token: result.token, update: {} }, expiryMs);
      this.#sleeper.wakeIn(0);
      return undefined;
    }
    const facts = { name, holder, lockExpiryMs: expiryMs, grant: result, sent: sent.last, known: known.state };
    return new Term(replica, { ...facts, ...NO_JOB });
  }

  #acquireRequest(holder: Holder): AcquireRequest {
    const { name, expiryMs, known } = this.request;
    return {
      name,
      holder,
      lifeMs: expiryMs,
      seenToken: known.state.token,
      endedSession: undefined,
      heartbeat: undefined,
      knownServerId: undefined,
      knownStateCreatedAt: known.state.stateCreatedAt,
      notBefore: 0,
      isFirstStart: false,
      stateLifeMs: STATE_LIFE_MS,
    };
  }

  #refused(refusal: Refusal): void {
    const { replica } = this;
    const { name, known } = this.request;
    const { holder, ttlMs, ttlRestored } = refusal;
    known.refused(refusal);
    if (ttlRestored && holder !== undefined) replica.notify('lockTtlRestored', { job: name, holder });
    if (holder === undefined) this.#mustWait(known.waitMs);
    else this.#mustWait(afterTtlMs(ttlMs, replica.random));
  }

  /** The lock is not free now. It may be free after `delayMs`. */
  #mustWait(delayMs: number): void {
    this.#failure = undefined;
    if (this.#hasTime) this.#sleeper.wakeIn(this.replica.isSubscribed ? delayMs : Math.min(delayMs, REQUEST_EVERY_MS));
    else this.#quitting.abort();
  }

  #noAnswer(): LockStoreError {
    return new LockStoreError(
      'STORE_UNREACHABLE',
      `Redis did not answer in time: it is not known who holds the lock '${givenKey(this.request.name)}'`,
    );
  }
}

/** The facts of a term that only a job has. */
const NO_JOB = {
  session: undefined,
  stateLifeMs: STATE_LIFE_MS,
  leaseEpoch: 0,
  backlog: {
    claimed: 0,
    unconfirmed: undefined,
    replaced: undefined,
    lost: undefined,
    claimsLostBefore: 0,
    slot: 0,
    runStartedAt: undefined,
    runEndedAt: undefined,
    leaseEndedAt: undefined,
  },
  takeover: { because: 'lock-free' },
  schedule: undefined,
} as const;
