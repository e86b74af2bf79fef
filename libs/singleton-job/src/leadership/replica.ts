import { type Notify } from '../events/index.js';
import {
  type Holder,
  type LockMessage,
  type LockStore,
  type ReleaseRequest,
  replicaOf,
  sessionOf,
} from '../store/index.js';
import { type Clock, Semaphore, SharedInterval, type Timer, within } from '../time/index.js';
import { type HeartbeatBackup } from './backup-heartbeats.js';
import { type Session } from './session.js';
import { Sessions } from './sessions.js';
import { StoreClient } from './store-client/store-client.js';
import { type Term } from './term.js';

interface ReplicaSettings {
  /** `nodeId-random`: the readable name of this process in holders and sessions. */
  readonly id: string;
  readonly heartbeatIntervalMs: number;
  readonly maxBackoffDelayMs: number;
}

interface ReplicaParts {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
  /** Sends heartbeats while the event loop is blocked. */
  readonly backup?: HeartbeatBackup | undefined;
}

export type LockNews = LockMessage['locks'][number];

/** A follower or a request of `LockService`: it waits for a lock and is called about events that concern it. */
export interface Waiter {
  /** Another replica has the lock. */
  granted?(news: LockNews): void;
  /** The lock is free. */
  released(news: LockNews): void;
  /** The list of sessions has changed: some may have ended. */
  sessionsChanged?(): void;
  /** A pause of some job has begun or ended. */
  pausesChanged?(): void;
  /** A heartbeat was answered. */
  heartbeatAnswered?(): void;
  /** The store restarted or lost its data. */
  breakNoticed?(): void;
  /** There is a new connection. */
  connected?(): void;
  /** Messages are received from now on, or no longer. Some may have been lost. */
  subscriptionChanged(): void;
  /** The store ended a term of this replica. `holder` has the lock; undefined: it is free. */
  lost?(term: Term, holder: Holder | undefined): void;
}

const MOST_OPEN_ACQUIRES = 25;
/** Messages may get lost: a release is published again up to so often, until another replica has the lock. */
const RELEASE_REPEATS = 3;
const REPEAT_AFTER_MS = 1_000;
/** How long the close waits for requests in the background. */
const CLOSE_MS = 500;

/** The parts of a process that all its elections and locks share. */
export class Replica {
  readonly id: string;
  readonly clock: Clock;
  readonly notify: Notify;
  readonly random: () => number;
  readonly client: StoreClient;
  readonly sessions: Sessions;
  /**
   * Limits the unanswered acquire requests, so that heartbeats never wait behind many of them. Grants of other replicas cancel queued
   * requests.
   */
  readonly acquires = new Semaphore(MOST_OPEN_ACQUIRES);
  /** How many jobs this replica competes for, or leads. */
  jobs = 0;
  readonly #store: LockStore;
  readonly #backup: HeartbeatBackup | undefined;
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** Terms that are kept alive, by the names of their locks. */
  readonly #terms = new Map<string, Set<Term>>();
  #led = 0;
  readonly #pulses = new Map<number, SharedInterval>();
  readonly #repeats = new Map<string, { readonly token: number; timer: Timer }>();
  #attempts = 0;
  #granted: LockNews[] = [];
  #closed: Promise<void> | undefined;

  constructor(
    readonly settings: ReplicaSettings,
    { store, clock, notify, random, backup }: ReplicaParts,
  ) {
    const { id, heartbeatIntervalMs } = settings;
    this.id = id;
    this.clock = clock;
    this.notify = notify;
    this.random = random;
    this.#store = store;
    this.#backup = backup;
    this.client = new StoreClient({ store, clock, notify, random, backoff: settings });
    const listener = {
      listChanged: () => {
        this.#eachWaiter((waiter) => waiter.sessionsChanged?.());
      },
      pausesChanged: () => {
        this.#eachWaiter((waiter) => waiter.pausesChanged?.());
      },
      heartbeatAnswered: () => {
        this.#eachWaiter((waiter) => waiter.heartbeatAnswered?.());
      },
      leasesFrozen: () => {
        const terms = this.#allTerms();
        for (const term of terms) term.freeze();
        for (const term of terms) void term.renewAfresh();
      },
      breakNoticed: () => {
        this.#eachWaiter((waiter) => waiter.breakNoticed?.());
      },
    };
    this.sessions = new Sessions({ replicaId: id, client: this.client, clock, heartbeatIntervalMs, listener, backup });
    store.listen({
      message: (message) => {
        if ('locks' in message) for (const news of message.locks) this.#receive(message.kind, news);
      },
      subscribed: () => {
        this.#eachWaiter((waiter) => {
          waiter.subscriptionChanged();
        });
      },
      unsubscribed: () => {
        this.#eachWaiter((waiter) => {
          waiter.subscriptionChanged();
        });
      },
      evictionPossible: (policy) => {
        notify('evictionPossible', policy === undefined ? {} : { policy });
      },
      restartsHidden: () => {
        notify('restartsHidden', {});
      },
    });
  }

  /** Whether releases and grants of other replicas are received. */
  get isSubscribed(): boolean {
    return this.#store.isSubscribed;
  }

  /** How many jobs this replica leads. */
  get led(): number {
    return this.#led;
  }

  /** Begins to connect, once. It does not wait for the store and does not fail without it. */
  open(): void {
    this.client.open({
      greet: () => this.sessions.greet(),
      ready: (isReconnect) => {
        if (!isReconnect) return;
        for (const term of this.#allTerms()) void term.renew();
        this.#eachWaiter((waiter) => waiter.connected?.());
      },
    });
  }

  /** Ends sessions under which nothing runs, and closes the connections. Locks and sessions in use expire by themselves. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** A new holder for an acquire request. Each has its own number, so that a late request of an earlier attempt changes nothing. */
  nextHolder(session?: Session): Holder {
    this.#attempts += 1;
    return `${session?.id ?? this.id}#${this.#attempts}`;
  }

  /** Calls `waiter` about events of a lock until the returned function is called. */
  enter(name: string, waiter: Waiter): () => void {
    const waiters = this.#waiters.get(name) ?? new Set();
    this.#waiters.set(name, waiters.add(waiter));
    return () => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(name) === waiters) this.#waiters.delete(name);
    };
  }

  /** Renews a term at every pulse of this interval, and after each reconnect and break, until the returned function is called. */
  keep(term: Term, intervalMs: number): () => void {
    const pulse = this.#pulses.get(intervalMs) ?? new SharedInterval(this.clock, intervalMs);
    this.#pulses.set(intervalMs, pulse);
    const terms = this.#terms.get(term.name) ?? new Set();
    this.#terms.set(term.name, terms.add(term));
    const isOfJob = term.facts.session !== undefined;
    if (isOfJob) this.#led += 1;
    const leave = pulse.add(() => void term.renew());
    return () => {
      if (!terms.delete(term)) return;
      if (terms.size === 0 && this.#terms.get(term.name) === terms) this.#terms.delete(term.name);
      if (isOfJob) this.#led -= 1;
      leave();
    };
  }

  /** How often a lock of `LockService` is renewed. */
  lockRenewalMs(expiryMs: number): number {
    return Math.min(this.settings.heartbeatIntervalMs, expiryMs / 4);
  }

  /** Publishes a grant. All grants of one turn of the event loop leave in one message. */
  announce(term: Term): void {
    const { name, fencingToken: token } = term;
    this.#repeats.get(name)?.timer.cancel();
    this.#repeats.delete(name);
    this.#granted.push({ name, holder: term.facts.holder, token });
    if (this.#granted.length > 1) return;
    void this.clock.afterIo().then(() => {
      const locks = this.#granted;
      this.#granted = [];
      // a lost message costs the other replicas only a request
      this.#store.publish({ kind: 'granted', locks }).catch(() => undefined);
    });
  }

  /**
   * Frees a lock. Resolves to whether the store confirmed within `waitMs` that `holder` does not have it. If not, the release continues in
   * the background for `limitMs` in total. Never rejects.
   */
  async release(request: ReleaseRequest, waitMs: number, limitMs: number): Promise<boolean> {
    const send = () => this.#store.release(request);
    const result = await this.client.answeredWithin({ name: request.name, kind: 'release', send }, waitMs);
    if (result === undefined && limitMs > waitMs) this.releaseInBackground(request, limitMs - waitMs);
    return result !== undefined;
  }

  /** Frees a lock in the background: an unanswered acquire request may have taken it. */
  releaseInBackground(request: ReleaseRequest, limitMs: number): void {
    const send = async () => {
      const { released } = await this.#store.release(request);
      if (released && sessionOf(request.holder) !== undefined) this.repeatRelease(request);
    };
    this.client.inBackground({ name: request.name, kind: 'release', send }, limitMs);
  }

  /** Publishes a release again until another replica has the lock, because the message may get lost. */
  repeatRelease({ name, holder, token }: LockNews): void {
    const news = { name, holder, token };
    const repeat = (times: number): void => {
      const timer = this.clock.setTimer(REPEAT_AFTER_MS, () => {
        this.#store.publish({ kind: 'released', locks: [news] }).catch(() => undefined);
        if (times > 1) repeat(times - 1);
        else this.#repeats.delete(news.name);
      });
      this.#repeats.set(news.name, { token: news.token, timer });
    };
    this.#repeats.get(name)?.timer.cancel();
    if (this.#closed === undefined) repeat(RELEASE_REPEATS);
  }

  /** The store ended a term. `holder` has its lock; undefined: it is free. */
  lostTo(term: Term, holder: Holder | undefined): void {
    for (const waiter of this.#waiters.get(term.name) ?? []) waiter.lost?.(term, holder);
  }

  async #close(): Promise<void> {
    for (const { timer } of this.#repeats.values()) timer.cancel();
    this.#repeats.clear();
    // before the sessions end: a run that continues must not count as a lost lease
    for (const term of this.#allTerms()) term.finish('abandoned');
    this.sessions.stop();
    if (this.client.isConnected) await within(this.clock, CLOSE_MS, this.client.drained());
    for (const pulse of this.#pulses.values()) pulse.stop();
    await Promise.all([this.client.close(), this.#backup?.close()]);
  }

  #receive(kind: LockMessage['kind'], news: LockNews): void {
    const { name, holder, token } = news;
    if (kind === 'granted' && token > (this.#repeats.get(name)?.token ?? Infinity)) {
      this.#repeats.get(name)?.timer.cancel();
      this.#repeats.delete(name);
    }
    // this replica knows its own grants; its own releases concern other waiters of this process
    if (kind === 'granted' && replicaOf(holder) === this.id) return;
    // a renewal shows whether this replica still has the lock
    if (kind === 'granted') for (const term of this.#terms.get(name) ?? []) void term.renewAfresh();
    for (const waiter of this.#waiters.get(name) ?? []) {
      if (kind === 'granted') waiter.granted?.(news);
      else waiter.released(news);
    }
  }

  #allTerms(): Term[] {
    return [...this.#terms.values()].flatMap((terms) => [...terms]);
  }

  #eachWaiter(call: (waiter: Waiter) => void): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) call(waiter);
  }
}
