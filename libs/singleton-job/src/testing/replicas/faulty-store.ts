import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { type LockStore } from '../../store/lock-store.js';
import { type Clock, type Timer } from '../../base/time/clock.js';
import { type ForwardedRequest, ForwardingStore } from './forwarding-store.js';
import { type ReplicaClock } from './replica-clock.js';

/**
 * What happens to a request. `answered`: the store carries it out and answers. `answer-lost`: the store carries it out, and the
 * answer is lost. `request-lost`: it never reaches the store. A code: it fails with this error and is not carried out. A connection
 * on which an answer is missing is closed after 1.5 s.
 */
export type Outcome = 'answered' | 'answer-lost' | 'request-lost' | LockStoreErrorCode;

const WATCHDOG_MS = 1_500;
const RECONNECT_MS = 250;

/** The network between one replica and its store. A test decides what happens to each request. */
export class FaultyStore extends ForwardingStore {
  /** Every request that was sent, in order. */
  readonly sent: { readonly request: ForwardedRequest; readonly name: string }[] = [];
  /** Decides what happens to each request. */
  outcome: (request: ForwardedRequest, name: string) => Outcome = () => 'answered';
  /** Holds back every answer until it resolves, once the request was carried out. */
  answersAfter: Promise<void> | undefined;
  /** How long each answer takes, once the request was carried out. */
  delayMs = 0;
  /** Whether messages are received. */
  isSubscribed = true;
  /** Messages to this replica are lost, and it does not notice. */
  losesMessages = false;
  #isOpen = true;
  #isConnected = true;
  #isPartitioned = false;
  readonly #unanswered = new Set<(error: LockStoreError) => void>();
  #watchdog: Timer | undefined;
  #retry: Timer | undefined;

  /** `process` is the clock of the replica: answers and messages wait while it is halted. `clock` continues. */
  constructor(
    store: LockStore,
    private readonly clock: Clock,
    private readonly process?: ReplicaClock,
  ) {
    super(store);
  }

  /** Loses the subscription. */
  unsubscribe(): void {
    this.isSubscribed = false;
    this.#arrive(() => {
      for (const listener of this.listeners) listener.unsubscribed?.();
    });
  }

  /** Has a subscription again. */
  subscribe(): void {
    this.isSubscribed = true;
    this.#arrive(() => {
      for (const listener of this.listeners) listener.subscribed?.();
    });
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
    if (!this.#isConnected) this.#connectSoon();
  }

  override async close(): Promise<void> {
    this.kill();
    await super.close();
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
  count(request: ForwardedRequest): number {
    return this.sent.filter((sent) => sent.request === request).length;
  }

  protected send<T>(request: ForwardedRequest, name: string, carryOut: () => Promise<T>): Promise<T> {
    if (this.process?.isKilled === true) return new Promise(() => undefined);
    if (!this.#isConnected) {
      return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false }));
    }
    this.sent.push({ request, name });
    const outcome = this.#isPartitioned ? 'request-lost' : this.outcome(request, name);
    if (outcome === 'answered') return this.#answer(carryOut());
    if (outcome === 'answer-lost') return carryOut().then(() => this.#never<T>());
    if (outcome === 'request-lost') return this.#never();
    return Promise.reject(new LockStoreError(outcome, `made to fail with ${outcome}`));
  }

  protected receive(deliver: () => void): void {
    if (this.isSubscribed && this.#isOpen && !this.#isPartitioned && !this.losesMessages) this.#arrive(deliver);
  }

  async #answer<T>(answer: Promise<T>): Promise<T> {
    await this.answersAfter;
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(this.delayMs, resolve));
    // an error waits for a halted process, as an answer does
    await answer.catch(() => undefined);
    await new Promise<void>((resolve) => {
      this.#arrive(resolve);
    });
    return answer;
  }

  #never<T>(): Promise<T> {
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
      for (const listener of this.listeners) listener.disconnected?.(error);
      for (const reject of unanswered) reject(error);
    });
    this.#connectSoon();
  }

  #connectSoon(): void {
    this.#retry?.cancel();
    if (this.#isPartitioned || !this.#isOpen) return;
    this.#retry = this.clock.setTimer(RECONNECT_MS, () => {
      if (this.#isPartitioned) return;
      this.#isConnected = true;
      this.#arrive(() => {
        for (const listener of this.listeners) listener.connected?.();
      });
    });
  }

  #arrive(arrive: () => void): void {
    if (this.process === undefined) arrive();
    else this.process.deliver(arrive);
  }
}
