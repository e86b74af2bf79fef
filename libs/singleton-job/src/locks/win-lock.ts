import { LockStoreError } from '../base/errors/lock-store.error.js';
import { givenKey } from '../base/errors/lock.errors.js';
import { afterTtlMs, deadlineOf, isBefore } from '../leadership/lease.js';
import { type LockWaiter } from '../leadership/lock-messages.js';
import { type Replica } from '../leadership/replica.js';
import { type AcquireRequest, type Holder, type Refusal } from '../store/lock-store.js';
import { instant } from '../base/time/clock.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { Sleeper } from '../base/time/sleeper.js';
import { type KnownLock, STATE_LIFE_MS } from './known-locks.js';
import { LockLease } from './lock-lease.js';
import { type LockRequest } from './lock-request.js';

/** A request, with what this process knows about the lock. */
interface InformedRequest extends LockRequest {
  readonly known: KnownLock;
}

/** How long to wait for an answer of the store. The first request may have to connect. */
const ANSWER_MS = 2_000;
/** How often a waiting request is sent again without a subscription. */
const REQUEST_EVERY_MS = 10_000;

/**
 * Acquires a lock, or waits for it as long as the request allows. Null: another holder has the lock, or `stop` aborted.
 *
 * @throws LockStoreError when it is not known who has the lock
 */
export function winLock(replica: Replica, request: InformedRequest, stop: AbortSignal): Promise<LockLease | null> {
  return new LockAcquisition(replica, request, stop).win();
}

/** One request for a lock. It has no session, so it goes by the life of the lock and the messages about releases. */
class LockAcquisition implements LockWaiter {
  readonly #sleeper: Sleeper;
  /** Aborts when `stop` aborts, and when waiting is over. */
  readonly #quitting: LinkedAbortController;
  /** Why there is no answer. Undefined: the answer is that another holder has the lock. */
  #failure: LockStoreError | undefined;
  #hasTime: boolean;

  constructor(
    private readonly replica: Replica,
    private readonly request: InformedRequest,
    private readonly stop: AbortSignal,
  ) {
    this.#quitting = new LinkedAbortController(stop);
    this.#sleeper = new Sleeper(replica.context.clock, this.#quitting.signal);
    this.#failure = this.#noAnswer();
    this.#hasTime = request.waitMs > 0;
  }

  released(): void {
    this.#sleeper.wakeIn(0);
  }

  subscriptionChanged(): void {
    this.#sleeper.wakeIn(0);
  }

  async win(): Promise<LockLease | null> {
    const { context, messages } = this.replica;
    const { clock, client } = context;
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
    const removeWaiter = messages.addWaiter(name, this);
    this.#sleeper.wakeIn(0);
    try {
      while (!this.#quitting.signal.aborted) {
        await this.#sleeper.untilDue();
        const lease = await this.#acquire();
        if (lease !== undefined) return lease;
      }
      if (this.stop.aborted) return null;
      // without a connection it is not known whether the holder still has it
      if (this.#failure === undefined && !client.isConnected) this.#failure = this.#noAnswer();
      if (this.#failure !== undefined) throw this.#failure;
      return null;
    } finally {
      for (const timer of timers) timer.cancel();
      this.#quitting.dispose();
      this.#sleeper.reset();
      removeWaiter();
    }
  }

  async #acquire(): Promise<LockLease | undefined> {
    const { replica } = this;
    const { context } = replica;
    const { name, expiryMs, known } = this.request;
    const { signal } = this.#quitting;
    if (signal.aborted) return undefined;
    this.#sleeper.reset();
    if (known.waitMs > 0) {
      this.#mustWait(known.waitMs);
      return undefined;
    }
    const holder = replica.acquirer.nextHolder();
    const result = await replica.acquirer.acquireOnce({
      name,
      holder,
      lifeMs: expiryMs,
      signal,
      prepare: () => ({ request: this.#acquireRequest(holder), sent: instant(context.clock) }),
      isInTime: (sent) => isBefore(context.clock, deadlineOf(sent, expiryMs)),
      onFailure: (error) => {
        this.#failure = error;
        // a store that denies a request will deny it again; an unreachable store may answer soon
        if (error.code !== 'STORE_UNREACHABLE') this.#quitting.abort();
      },
    });
    if (result.outcome === 'refused') this.#refused(result.refusal);
    if (result.outcome === 'granted' || result.outcome === 'too-late') known.granted(result.grant);
    if (result.outcome === 'too-late') this.#sleeper.wakeIn(0);
    if (result.outcome !== 'granted') return undefined;
    return new LockLease(replica, { name, holder, expiryMs, grant: result.grant, sent: result.sent });
  }

  #acquireRequest(holder: Holder): AcquireRequest {
    const { name, expiryMs, known } = this.request;
    return {
      name,
      holder,
      lifeMs: expiryMs,
      seenToken: known.token,
      endedSession: undefined,
      heartbeat: undefined,
      knownServerId: undefined,
      knownStateCreatedAt: known.stateCreatedAt,
      notBefore: 0,
      isFirstStart: false,
      stateLifeMs: STATE_LIFE_MS,
    };
  }

  #refused(refusal: Refusal): void {
    const { context } = this.replica;
    const { known } = this.request;
    const { holder, ttlMs } = refusal;
    known.refused(refusal);
    if (holder === undefined) this.#mustWait(known.waitMs);
    else this.#mustWait(afterTtlMs(ttlMs, context.random));
  }

  /** The lock is not free now. It may be free after `delayMs`. */
  #mustWait(delayMs: number): void {
    this.#failure = undefined;
    if (this.#hasTime)
      this.#sleeper.wakeIn(this.replica.messages.isSubscribed ? delayMs : Math.min(delayMs, REQUEST_EVERY_MS));
    else this.#quitting.abort();
  }

  #noAnswer(): LockStoreError {
    const { name: store } = this.replica.context.client.store;
    return new LockStoreError(
      'STORE_UNREACHABLE',
      `${store} did not answer in time: it is not known who holds the lock '${givenKey(this.request.name)}'`,
    );
  }
}
