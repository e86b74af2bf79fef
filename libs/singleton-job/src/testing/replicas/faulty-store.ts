import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Clock, type Timer } from '../../base/time/clock.js';
import { Listeners } from '../../store/listeners.js';
import { type MemoryStore } from '../../store/memory.js';
import {
  type CasRequest,
  type Store,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from '../../store/store.js';
import { type ReplicaClock } from './replica-clock.js';

/** A request from a process to its store. */
export type RequestKind = 'sync' | 'compareAndSet' | 'publish';

/**
 * What happens to a request. `answered`: the store carries it out and answers. `answer-lost`: the store carries it out, and the
 * answer is lost. `request-lost`: it never reaches the store. A code: it fails with this error and is not carried out. A connection
 * on which an answer is missing is closed after 1.5 s.
 */
export type Outcome = 'answered' | 'answer-lost' | 'request-lost' | LockStoreError['code'];

const WATCHDOG_MS = 1_500;
const RECONNECT_MS = 250;

/** The network between one replica and its store. A test decides what happens to each request. */
export class FaultyStore implements Store {
  /** Every request that was sent, in order, with the names of its records. */
  readonly sent: { readonly request: RequestKind; readonly names: readonly string[] | '*' }[] = [];
  /** Decides what happens to each request. */
  outcome: (request: RequestKind, names: readonly string[] | '*') => Outcome = () => 'answered';
  /** Holds back every answer until it resolves, once the request was carried out. */
  answersAfter: Promise<void> | undefined;
  /** How long each answer takes, once the request was carried out. */
  delayMs = 0;
  /** Messages to this replica are lost, and it does not notice. */
  losesMessages = false;
  #isListening = true;
  #isOpen = false;
  #isConnected = true;
  #isPartitioned = false;
  readonly #listeners = new Listeners();
  readonly #unanswered = new Set<(error: LockStoreError) => void>();
  #watchdog: Timer | undefined;
  #retry: Timer | undefined;

  /** `process` is the clock of the replica: answers and messages wait while it is halted. `clock` continues. */
  constructor(
    private readonly store: MemoryStore,
    private readonly clock: Clock,
    private readonly process?: ReplicaClock,
  ) {
    store.addListener({
      connected: () => {
        this.#report((listener) => listener.connected?.());
      },
      listening: () => {
        this.#report((listener) => listener.listening?.(this.#isListening));
      },
      hint: (names) => {
        const isLost = !this.#isListening || !this.#isOpen || this.#isPartitioned || this.losesMessages;
        if (!isLost) this.#report((listener) => listener.hint?.(names));
      },
    });
  }

  get name(): string {
    return this.store.name;
  }

  sync(request: SyncRequest): Promise<SyncResult> {
    return this.#send('sync', request.read, () => this.store.sync(request));
  }

  compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    const names = request.writes.map(({ name }) => name);
    return this.#send('compareAndSet', names, () => this.store.compareAndSet(request));
  }

  publish(names: readonly string[] | '*'): Promise<void> {
    return this.#send('publish', names, () => this.store.publish(names));
  }

  addListener(listener: StoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#isOpen = true;
    this.store.open();
  }

  async close(): Promise<void> {
    this.kill();
    await this.store.close();
  }

  /** Receives no messages, and knows it. */
  stopListening(): void {
    this.#isListening = false;
    this.#report((listener) => listener.listening?.(false));
  }

  /** Receives messages again. */
  listen(): void {
    this.#isListening = true;
    this.#report((listener) => listener.listening?.(true));
  }

  /** Closes the connection. Another one is ready a moment later. */
  reconnect(): void {
    this.#disconnect();
  }

  /** From now on everything that is sent in either direction is lost. No connection succeeds until {@link heal}. */
  partition(): void {
    this.#isPartitioned = true;
  }

  /** The network works again. If the connection was closed, the next one is ready a moment later. */
  heal(): void {
    this.#isPartitioned = false;
    if (!this.#isConnected) this.#scheduleConnection();
  }

  /** The process is gone. It sends and receives nothing any more. */
  kill(): void {
    this.#isOpen = false;
    this.#watchdog?.cancel();
    this.#retry?.cancel();
  }

  /** Holds back every answer, once its request was carried out. The returned function lets them arrive. */
  holdAnswers(): () => void {
    let arrive: () => void = () => undefined;
    this.answersAfter = new Promise((resolve) => (arrive = resolve));
    return arrive;
  }

  /** How many times a request was sent. */
  count(request: RequestKind): number {
    return this.sent.filter((sent) => sent.request === request).length;
  }

  #send<T>(request: RequestKind, names: readonly string[] | '*', carryOut: () => Promise<T>): Promise<T> {
    if (this.process?.isKilled === true) return new Promise(() => undefined);
    if (!this.#isConnected)
      return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false }));
    this.sent.push({ request, names });
    const outcome = this.#isPartitioned ? 'request-lost' : this.outcome(request, names);
    if (outcome === 'answered') return this.#answer(carryOut());
    if (outcome === 'answer-lost') return carryOut().then(() => this.#loseAnswer<T>());
    if (outcome === 'request-lost') return this.#loseAnswer();
    return Promise.reject(new LockStoreError(outcome, `made to fail with ${outcome}`));
  }

  async #answer<T>(answer: Promise<T>): Promise<T> {
    // an error waits for a halted process, as an answer does
    const settled = answer.catch(() => undefined);
    await this.answersAfter;
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(this.delayMs, resolve));
    await settled;
    await new Promise<void>((resolve) => {
      this.#arrive(resolve);
    });
    return answer;
  }

  #loseAnswer<T>(): Promise<T> {
    if (this.#isOpen) {
      this.#watchdog ??= this.clock.setTimer(WATCHDOG_MS, () => {
        this.#disconnect();
      });
    }
    return new Promise<T>((_, reject) => this.#unanswered.add(reject));
  }

  #disconnect(): void {
    this.#watchdog?.cancel();
    this.#watchdog = undefined;
    if (!this.#isConnected || !this.#isOpen) return;
    this.#isConnected = false;
    const error = new LockStoreError('STORE_UNREACHABLE', 'the connection was closed');
    const unanswered = [...this.#unanswered];
    this.#unanswered.clear();
    this.#arrive(() => {
      this.#listeners.each((listener) => listener.disconnected?.(error));
      for (const reject of unanswered) reject(error);
    });
    this.#scheduleConnection();
  }

  #scheduleConnection(): void {
    this.#retry?.cancel();
    if (this.#isPartitioned || !this.#isOpen) return;
    this.#retry = this.clock.setTimer(RECONNECT_MS, () => {
      if (this.#isPartitioned) return;
      this.#isConnected = true;
      this.#report((listener) => listener.connected?.());
    });
  }

  #report(report: (listener: StoreListener) => void): void {
    this.#arrive(() => {
      this.#listeners.each(report);
    });
  }

  #arrive(arrive: () => void): void {
    if (this.process === undefined) arrive();
    else this.process.deliver(arrive);
  }
}
