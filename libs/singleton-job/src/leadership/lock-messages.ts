import { type LockMessage, type ReleaseRequest, replicaOf, sessionOf } from '../store/lock-store.js';
import { type Timer } from '../base/time/clock.js';
import { type Renewals } from './renewals.js';
import { type ReplicaContext } from './replica.js';

/** A lock, its holder and the fencing token, as a message about a grant or a release names them. */
export type LockNews = LockMessage['locks'][number];

/** A follower or a request of `LockService`: it waits for a lock and is called about events that concern it. */
export interface LockWaiter {
  /** Another replica has the lock. */
  granted?(news: LockNews): void;
  /** The lock is free. */
  released(news: LockNews): void;
  /** Messages are received from now on, or no longer. Some may have been lost. */
  subscriptionChanged(): void;
  /** The list of sessions has changed: some may have ended. */
  sessionsChanged?(): void;
  /** A pause of some job has begun or ended. */
  pausesChanged?(): void;
  /** A heartbeat was answered. */
  heartbeatAnswered?(): void;
  /** The store restarted or lost its data. */
  onStoreRestart?(): void;
  /** There is a new connection. */
  connected?(): void;
}

/** A release is published again up to so often, until another replica has the lock, because a message may get lost. */
const RELEASE_REPEATS = 3;
const REPEAT_AFTER_MS = 1_000;
/** How long a release waits for its answer: longer than the watchdog of a silent connection. */
const RELEASE_MS = 2_000;

/** Publishes the grants and releases of this replica, and passes those of other replicas on to whatever waits for the lock. */
export class LockMessages {
  readonly #waiters = new Map<string, Set<LockWaiter>>();
  readonly #repeats = new Map<string, { readonly token: number; timer: Timer }>();
  /** Grants of this turn of the event loop. */
  #granted: LockNews[] = [];

  constructor(
    private readonly context: ReplicaContext,
    private readonly renewals: Renewals,
  ) {
    context.client.store.addListener({
      message: (message) => {
        if ('locks' in message) for (const news of message.locks) this.#receive(message.kind, news);
      },
      subscribed: () => {
        this.#subscriptionChanged();
      },
      unsubscribed: () => {
        this.#subscriptionChanged();
      },
    });
  }

  /** Whether messages of other replicas are received. */
  get isSubscribed(): boolean {
    return this.context.client.store.isSubscribed;
  }

  /** Calls `waiter` about events of a lock until the returned function is called. */
  addWaiter(name: string, waiter: LockWaiter): () => void {
    const waiters = this.#waiters.get(name) ?? new Set();
    this.#waiters.set(name, waiters.add(waiter));
    return () => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(name) === waiters) this.#waiters.delete(name);
    };
  }

  eachWaiter(call: (waiter: LockWaiter) => void): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) call(waiter);
  }

  /** All grants of one turn of the event loop leave in one message. */
  publishGrant(news: LockNews): void {
    this.#endRepeats(news.name);
    this.#granted.push(news);
    if (this.#granted.length > 1) return;
    const { clock, client } = this.context;
    void clock.afterIo().then(() => {
      const locks = this.#granted;
      this.#granted = [];
      // a lost message costs the other replicas only a request
      client.store.publish({ kind: 'granted', locks }).catch(() => undefined);
    });
  }

  /**
   * Frees a lock. Resolves to whether the store confirmed within 2 s that `holder` does not have it. If not, the release continues in the
   * background until the lock expires, `restMs` from now. Never rejects.
   */
  async release(request: ReleaseRequest, restMs: number): Promise<boolean> {
    const { client } = this.context;
    const send = () => client.store.release(request);
    const result = await client.answeredWithin({ name: request.name, kind: 'release', send }, RELEASE_MS);
    if (result === undefined && restMs > RELEASE_MS) this.releaseInBackground(request, restMs - RELEASE_MS);
    return result !== undefined;
  }

  /** Frees a lock in the background: an unanswered acquire request may have taken it. */
  releaseInBackground(request: ReleaseRequest, limitMs: number): void {
    const { client } = this.context;
    const send = async () => {
      const { released } = await client.store.release(request);
      if (released && sessionOf(request.holder) !== undefined) this.repeatRelease(request);
    };
    client.inBackground({ name: request.name, kind: 'release', send }, limitMs);
  }

  /** Publishes a release again until another replica has the lock. */
  repeatRelease({ name, holder, token }: LockNews): void {
    const { clock, client, closing } = this.context;
    const repeat = (times: number): void => {
      const timer = clock.setTimer(REPEAT_AFTER_MS, () => {
        client.store.publish({ kind: 'released', locks: [{ name, holder, token }] }).catch(() => undefined);
        if (times > 1) repeat(times - 1);
        else this.#repeats.delete(name);
      });
      this.#repeats.set(name, { token, timer });
    };
    this.#repeats.get(name)?.timer.cancel();
    if (!closing.aborted) repeat(RELEASE_REPEATS);
  }

  stop(): void {
    for (const name of [...this.#repeats.keys()]) this.#endRepeats(name);
  }

  #endRepeats(name: string): void {
    this.#repeats.get(name)?.timer.cancel();
    this.#repeats.delete(name);
  }

  #receive(kind: LockMessage['kind'], news: LockNews): void {
    const { name, holder, token } = news;
    if (kind === 'granted') {
      if (token > (this.#repeats.get(name)?.token ?? Infinity)) this.#endRepeats(name);
      // this replica knows its own grants; its own releases concern other waiters of this process
      if (replicaOf(holder) === this.context.id) return;
      this.renewals.check(name);
    }
    for (const waiter of this.#waiters.get(name) ?? []) {
      if (kind === 'granted') waiter.granted?.(news);
      else waiter.released(news);
    }
  }

  #subscriptionChanged(): void {
    this.eachWaiter((waiter) => {
      waiter.subscriptionChanged();
    });
  }
}
