import { type Notify } from '../events/index.js';
import {
  type Holder,
  type LockMessage,
  type LockStore,
  type ReleaseRequest,
  replicaOf,
  sessionOf,
} from '../store/index.js';
import { Semaphore, StoreClient } from '../store/client/index.js';
import { type Clock, type Timer, within } from '../time/index.js';
import { type HeartbeatBackup } from './backup-heartbeats.js';
import { Pulse } from './pulse.js';
import { type Session } from './session.js';
import { Sessions } from './sessions.js';
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

/** Whatever waits for a lock, and what happens meanwhile. */
export interface Waiter {
  /** Another replica has the lock. */
  granted?(news: LockNews): void;
  /** The lock is free. */
  released(news: LockNews): void;
  /** The list of sessions has changed: some may have ended. */
  sessionsChanged?(): void;
  /** A heartbeat was answered. */
  heartbeatAnswered?(): void;
  /** The store restarted or lost its data. */
  breakNoticed?(): void;
  /** There is a new connection. */
  connected?(): void;
  /** Messages are, or are not, received from now on: some may have been missed. */
  subscriptionChanged(): void;
  /** A term of this replica was ended by the store: `holder` has the lock, or no holder. */
  lost?(term: Term, holder: Holder | undefined): void;
}

const MOST_OPEN_ACQUIRES = 25;
/** A message may get lost: a release is published again so often, until another replica has the lock. */
const RELEASE_REPEATS = 3;
const REPEAT_AFTER_MS = 1_000;
/** The last requests in the background may take so long when the connections are closed. */
const CLOSE_MS = 500;

/** One process: what all its elections and locks share. */
export class Replica {
  readonly id: string;
  readonly clock: Clock;
  readonly notify: Notify;
  readonly random: () => number;
  readonly client: StoreClient;
  readonly sessions: Sessions;
  /**
   * Few acquire requests are unanswered at a time, so that heartbeats never wait behind them, and the grants of other replicas cancel
   * those that wait their turn.
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
  readonly #pulses = new Map<number, Pulse>();
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
        this.#tellAll((waiter) => waiter.sessionsChanged?.());
      },
      heartbeatAnswered: () => {
        this.#tellAll((waiter) => waiter.heartbeatAnswered?.());
      },
      leasesFrozen: () => {
        const terms = this.#allTerms();
        for (const term of terms) term.freeze();
        for (const term of terms) void term.renewAfresh();
      },
      breakNoticed: () => {
        this.#tellAll((waiter) => waiter.breakNoticed?.());
      },
    };
    this.sessions = new Sessions({ replicaId: id, client: this.client, clock, heartbeatIntervalMs, listener, backup });
    store.listen({
      message: (message) => {
        if ('locks' in message) for (const news of message.locks) this.#receive(message.kind, news);
      },
      subscribed: () => {
        this.#tellAll((waiter) => {
          waiter.subscriptionChanged();
        });
      },
      unsubscribed: () => {
        this.#tellAll((waiter) => {
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

  /** Begins to connect, once. Neither waits for the store nor fails without it. */
  open(): void {
    this.client.open({
      greet: () => this.sessions.greet(),
      ready: (isReconnect) => {
        if (!isReconnect) return;
        for (const term of this.#allTerms()) void term.renew();
        this.#tellAll((waiter) => waiter.connected?.());
      },
    });
  }

  /** Ends sessions under which nothing runs, and the connections. Locks and sessions that are still in use are left to expire. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** A holder value for a new acquire request. Each has a number of its own, so that a late request of an earlier one changes nothing. */
  nextHolder(session?: Session): Holder {
    this.#attempts += 1;
    return `${session?.id ?? this.id}#${this.#attempts}`;
  }

  /** Calls `waiter` about a lock, until the returned function is called. */
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
    const pulse = this.#pulses.get(intervalMs) ?? new Pulse(this.clock, intervalMs);
    this.#pulses.set(intervalMs, pulse);
    const terms = this.#terms.get(term.name) ?? new Set();
    this.#terms.set(term.name, terms.add(term));
    const isOfJob = term.facts.session !== undefined;
    if (isOfJob) this.#led += 1;
    const leave = pulse.join(() => void term.renew());
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

  /** Tells the other replicas who leads, in one message for all grants of one turn. */
  announce(term: Term): void {
    const { name, fencingToken: token } = term;
    this.#repeats.get(name)?.timer.cancel();
    this.#repeats.delete(name);
    this.#granted.push({ name, holder: term.facts.holder, token });
    if (this.#granted.length > 1) return;
    void this.clock.afterIo().then(() => {
      const locks = this.#granted;
      this.#granted = [];
      // a message that is lost costs other replicas a question
      this.#store.publish({ kind: 'granted', locks }).catch(() => undefined);
    });
  }

  /**
   * Frees a lock. Resolves to whether the store has confirmed within `waitMs` that it is not ours. Otherwise it goes on in the
   * background for `limitMs` in all. Never rejects.
   */
  async release(request: ReleaseRequest, waitMs: number, limitMs: number): Promise<boolean> {
    const send = () => this.#store.release(request);
    const result = await this.client.answeredWithin({ name: request.name, kind: 'release', send }, waitMs);
    if (result === undefined && limitMs > waitMs) this.releaseInBackground(request, limitMs - waitMs);
    return result !== undefined;
  }

  /** Frees a lock that an acquire request may have taken whose answer is no longer waited for. */
  releaseInBackground(request: ReleaseRequest, limitMs: number): void {
    const send = async () => {
      const { released } = await this.#store.release(request);
      if (released && sessionOf(request.holder) !== undefined) this.repeatRelease(request);
    };
    this.client.inBackground({ name: request.name, kind: 'release', send }, limitMs);
  }

  /** Publishes a release again, in case the message got lost, until another replica has the lock. */
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

  /** The store has ended a term: `holder` has its lock, or no holder. */
  lostTo(term: Term, holder: Holder | undefined): void {
    for (const waiter of this.#waiters.get(term.name) ?? []) waiter.lost?.(term, holder);
  }

  async #close(): Promise<void> {
    for (const { timer } of this.#repeats.values()) timer.cancel();
    this.#repeats.clear();
    // before the sessions are over: a run that goes on is no lost leadership
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
    // a lock that this replica released may be wanted by another part of it, its own grants it knows
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

  #tellAll(tell: (waiter: Waiter) => void): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) tell(waiter);
  }
}
