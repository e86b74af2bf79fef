import { setMaxListeners } from 'node:events';
import { asLockStoreError, type LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Notify } from '../../base/events/events.js';
import { messagesDenied } from '../../base/events/warnings.js';
import { type LockStore } from '../../store/lock-store.js';
import { backoffMs, type BackoffPolicy, shortPauseMs } from '../../base/time/backoff.js';
import { type Clock } from '../../base/time/clock.js';
import { Condition } from '../../base/time/condition.js';
import { LinkedAbortController } from '../../base/time/linked-abort-controller.js';
import { unlessAborted } from '../../base/time/unless-aborted.js';
import { nextReminderMs, ReportedErrors } from './reported-errors.js';

/** What a request does to a lock, or to sessions. */
export type RequestKind = 'acquire' | 'renew' | 'claim' | 'release' | 'session';

interface StoreRequest<T> {
  /** The lock. Undefined: it concerns all jobs. */
  readonly name: string | undefined;
  readonly kind: RequestKind;
  /** Aborts when the answer is no longer wanted. What was sent may still be carried out. */
  readonly signal: AbortSignal;
  /** Sends the request once. Called again only after a rejection. */
  readonly send: () => Promise<T>;
  /** Called with each error of the store, and when there is no connection until a person changes something. */
  readonly onFailure?: ((error: LockStoreError) => void) | undefined;
}

interface StoreClientParts {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
  readonly backoff: BackoffPolicy;
}

interface Outage {
  readonly sinceMs: number;
  remindAtMs: number;
  /** True after the report that a person must change something. */
  isDenied: boolean;
  /** The message of its report. Undefined after the report of a cause that showed only later. */
  reported: string | undefined;
  /** True after the first heartbeat found another server, or one that restarted. */
  hasRestarted: boolean;
}

/** Sends the first request on a new connection, and is called when other requests may follow. */
interface ConnectionHandler {
  /** Sends the heartbeat. Resolves when it is answered, with a result or an error. */
  greet(): Promise<void>;
  /** The heartbeat is answered: other requests are sent from now on. `isReconnect` is false for the first connection. */
  ready(isReconnect: boolean): void;
}

/**
 * All requests of one process to its store. Requests wait while there is no connection.
 *
 * A request is sent once per connection. It is sent again only after a rejection: its connection ended, or the store answered with
 * an error. On one connection answers come in order, so sending a request twice would only add load.
 */
export class StoreClient {
  /** `down`: no connection. `greeting`: the heartbeat is under way, other requests wait. `up`: requests are sent at once. */
  #state: 'down' | 'greeting' | 'up' = 'down';
  /** Counts connections and their ends. It tells whether a request was rejected because its own connection ended. */
  #connection = 0;
  #outage: Outage | undefined;
  /** Why there is no connection, if a person must change something, such as the password. */
  #denial: LockStoreError | undefined;
  #handler: ConnectionHandler | undefined;
  /** Notified when requests can be sent, or a person must change something before. */
  readonly #ready: Condition;
  /** Notified when a reported error is over. */
  readonly #recovered: Condition;
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #reported: ReportedErrors;
  /** Separate from the other errors: denied messages stop no job. */
  readonly #reportedMessages: ReportedErrors;

  constructor(private readonly parts: StoreClientParts) {
    this.#ready = new Condition(parts.clock);
    this.#recovered = new Condition(parts.clock);
    // every open request listens to this signal; Node would warn about a leak
    setMaxListeners(0, this.#closing.signal);
    const notify: Notify = (event, payload) => {
      if (!this.#isClosed) parts.notify(event, payload);
    };
    this.#reported = new ReportedErrors(parts.clock, notify);
    this.#reportedMessages = new ReportedErrors(parts.clock, (event, payload) => {
      if (event === 'requestDenied' && 'error' in payload)
        notify('warning', messagesDenied(payload.error as LockStoreError, parts.store.name));
    });
    parts.store.addListener({
      connected: () => {
        if (this.#state === 'down') this.#connect();
      },
      disconnected: (error) => {
        this.#disconnect(error);
      },
      subscribed: () => {
        this.#reportedMessages.succeeded(undefined, 'messages');
      },
      messagesDenied: (error) => {
        this.#reportedMessages.failed({ name: undefined, kind: 'messages' }, error, 1);
      },
    });
  }

  get store(): LockStore {
    return this.parts.store;
  }

  /** Whether requests can be sent. On a new connection that is only a heartbeat at first. */
  get isConnected(): boolean {
    return this.#state !== 'down';
  }

  /** Aborts when the connections are about to close: nothing waits for the store any longer. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Every current outage, and for how long. A `name` of undefined means all locks. */
  get outages(): readonly (readonly [name: string | undefined, forMs: number])[] {
    const now = this.parts.clock.now();
    const ofAll = this.#outage === undefined ? [] : [[undefined, now - this.#outage.sinceMs] as const];
    return [...ofAll, ...this.#reported.unreachable()];
  }

  /** Opens the store, once. Neither waits for a connection nor fails without one. */
  open(handler: ConnectionHandler): void {
    if (this.#handler !== undefined || this.#isClosed) return;
    this.#handler = handler;
    this.parts.store.open();
    // a store without connections never calls `connected`: the heartbeat shows whether it answers
    this.#connect();
  }

  /** Closes the connections. From now on nothing is reported, and nothing waits for an answer. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.#handler === undefined ? Promise.resolve() : this.parts.store.close();
  }

  /** Sends a request in the background, until it is answered, `limitMs` have passed or the client is closed. */
  inBackground(request: Omit<StoreRequest<unknown>, 'signal'>, limitMs: number): void {
    const answered = this.answeredWithin(request, limitMs).finally(() => this.#background.delete(answered));
    this.#background.add(answered);
  }

  /** The answer to a request; undefined if there is none within `limitMs`, or the client is closed. Never rejects. */
  answeredWithin<T>(request: Omit<StoreRequest<T>, 'signal'>, limitMs: number): Promise<T | undefined> {
    return this.withTimeout(limitMs, (signal) => this.untilAnswered({ ...request, signal }));
  }

  /** What `work` resolves to. It has a signal that aborts after `limitMs`, and when the client is closed. */
  async withTimeout<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new LinkedAbortController(this.closing);
    const timer = this.parts.clock.setTimer(limitMs, () => {
      ending.abort();
    });
    try {
      return await work(ending.signal);
    } finally {
      timer.cancel();
      ending.dispose();
    }
  }

  /** Resolves when no request is under way in the background. */
  async drained(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  /**
   * Sends a request, and again after each rejection, until it is answered. Undefined if `signal` aborted before. Never rejects.
   *
   * While there is no connection, it waits for one. After an error of the store it waits 0.25 to 0.5 s. An acquire request waits with
   * exponential back-off instead, unless the store was only unreachable.
   */
  async untilAnswered<T>({ name, kind, signal, send, onFailure }: StoreRequest<T>): Promise<T | undefined> {
    for (let failures = 0; !signal.aborted && !this.#isClosed;) {
      if (this.#state !== 'up') {
        if (this.#denial !== undefined) onFailure?.(this.#denial);
        await this.#ready.wait(signal);
        continue;
      }
      const connection = this.#connection;
      try {
        const answer = await unlessAborted(send(), signal);
        if (answer === undefined) return undefined;
        if (this.#reported.succeeded(name, kind)) this.#recovered.notify();
        return answer.value;
      } catch (thrown: unknown) {
        const error = asLockStoreError(thrown);
        // the connection ended: send the request again on the next one
        if (connection !== this.#connection || !this.isConnected) continue;
        failures += 1;
        onFailure?.(error);
        this.#reported.failed({ name, kind }, error, failures);
        // ends early with a new connection, and when another request shows that the error is over
        await this.#recovered.wait(signal, this.#pauseMs(kind, error, failures));
      }
    }
    return undefined;
  }

  /** A heartbeat was answered with an error, or there is no connection. Both concern every job of the process. */
  heartbeatFailed(thrown: unknown, failures: number): void {
    const error = asLockStoreError(thrown);
    if (this.isConnected) this.#reported.failed({ name: undefined, kind: 'session' }, error, failures);
    else this.#remindOfOutage(error);
  }

  /** A heartbeat was answered with a result. A later heartbeat can be answered first where the first one on a connection hangs. */
  heartbeatAnswered(): void {
    this.#reported.succeeded(undefined, 'session');
    this.#becomeReady();
  }

  /** A heartbeat shows another server or other data than before. Called before {@link heartbeatAnswered}. */
  onStoreRestart(): void {
    if (this.#outage !== undefined) this.#outage.hasRestarted = true;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #connect(): void {
    this.#connection += 1;
    this.#state = 'greeting';
    this.#denial = undefined;
    const connection = this.#connection;
    void this.#handler?.greet().then(() => {
      if (connection === this.#connection) this.#becomeReady();
    });
  }

  #becomeReady(): void {
    if (this.#state !== 'greeting' || this.#isClosed) return;
    this.#state = 'up';
    this.#endOutage();
    this.#handler?.ready(this.#connection > 1);
    this.#ready.notify();
    this.#recovered.notify();
  }

  #disconnect(error: LockStoreError): void {
    const wasDown = this.#state === 'down';
    this.#state = 'down';
    this.#connection += 1;
    if (this.#isClosed) return;
    const isDenied = error.code === 'STORE_MISCONFIGURED';
    if (isDenied) {
      this.#denial = error;
      this.#ready.notify();
    }
    const now = this.parts.clock.now();
    if (this.#outage !== undefined) {
      // The outage was reported when it began. Only now it shows that a person must end it.
      if (isDenied && !this.#outage.isDenied) {
        this.#reported.failed({ name: undefined, kind: 'connection' }, error, 1);
        this.#outage.isDenied = true;
      } else if (wasDown && !isDenied && ![undefined, error.message].includes(this.#outage.reported)) {
        this.#outage.reported = undefined;
        this.parts.notify('storeUnreachable', { error, outageMs: now - this.#outage.sinceMs });
      }
      return;
    }
    const remindAtMs = nextReminderMs(now, now);
    this.#outage = { sinceMs: now, isDenied, reported: error.message, hasRestarted: false, remindAtMs };
    this.parts.notify('storeUnreachable', { error, outageMs: 0 });
  }

  #remindOfOutage(error: LockStoreError): void {
    const now = this.parts.clock.now();
    if (this.#outage === undefined || now < this.#outage.remindAtMs || this.#isClosed) return;
    const { sinceMs } = this.#outage;
    this.#outage.remindAtMs = nextReminderMs(sinceMs, now);
    this.parts.notify('storeUnreachable', { error, outageMs: now - sinceMs });
  }

  #endOutage(): void {
    if (this.#outage === undefined) return;
    this.#reported.succeeded(undefined, 'connection');
    const { sinceMs, hasRestarted } = this.#outage;
    const outageMs = this.parts.clock.now() - sinceMs;
    this.#outage = undefined;
    this.parts.notify('storeRecovered', { outageMs, ...(hasRestarted && { hasRestarted }) });
  }

  #pauseMs(kind: RequestKind, error: LockStoreError, failures: number): number {
    const { backoff, random } = this.parts;
    // a leader must renew its lease in time, and a store that was unreachable may answer in a moment
    const isUrgent = kind !== 'acquire' || error.code === 'STORE_UNREACHABLE';
    return isUrgent ? shortPauseMs(random) : backoffMs(failures - 1, backoff, random);
  }
}
