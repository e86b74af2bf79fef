import { LockStoreError, type LockStoreErrorCode } from '../../libs/singleton-job/src/errors/index.js';
import { type LockStore } from '../../libs/singleton-job/src/store/index.js';
import {
  type ForwardedRequest,
  ForwardingStore,
} from '../../libs/singleton-job/src/testing/replicas/forwarding-store.js';
import { type Clock, type Timer } from '../../libs/singleton-job/src/time/index.js';

export type Command = ForwardedRequest;

/**
 * What happens to a request: it is `carried` out and answered; it is carried out but its answer is `unanswered`; it is `lost` on its
 * way; or it fails with a code before it is carried out. A connection on which an answer is missing is closed after 1.5 s.
 */
export type Fate = 'carried' | 'unanswered' | 'lost' | LockStoreErrorCode;

const WATCHDOG_MS = 1_500;
const RECONNECT_MS = 250;

/** A store between one replica and its real one, on which a test decides the fate of each request. */
export class FaultyStore extends ForwardingStore {
  /** Every request that was sent, in order. */
  readonly sent: { readonly command: Command; readonly name: string }[] = [];
  /** Decides the fate of each request. */
  fate: (command: Command, name: string) => Fate = () => 'carried';
  /** Holds back every answer until it resolves, once the request was carried out. */
  heldBack: Promise<void> | undefined;
  /** How long each answer takes, once the request was carried out. */
  delayMs = 0;
  /** Whether messages are received. */
  isSubscribed = true;
  /** Messages to this replica get lost, unnoticed. */
  loseMessages = false;
  #isOpen = true;
  #isConnected = true;
  #isCut = false;
  readonly #unanswered = new Set<(error: LockStoreError) => void>();
  #watchdog: Timer | undefined;
  #retry: Timer | undefined;

  constructor(
    store: LockStore,
    private readonly clock: Clock,
  ) {
    super(store);
  }

  /** Loses the subscription. */
  unsubscribe(): void {
    this.isSubscribed = false;
    for (const listener of this.listeners) listener.unsubscribed?.();
  }

  /** Has a subscription again. */
  subscribe(): void {
    this.isSubscribed = true;
    for (const listener of this.listeners) listener.subscribed?.();
  }

  /** Ends the connection, and has another in its place a moment later. */
  reconnect(): void {
    this.#disconnect();
  }

  /** Loses all that is sent, and connects no more until {@link mend}. */
  cut(): void {
    this.#isCut = true;
  }

  /** The network works again. The next connection stands a moment later. */
  mend(): void {
    this.#isCut = false;
    if (!this.#isConnected) this.#connectSoon();
  }

  override async close(): Promise<void> {
    this.#isOpen = false;
    this.#watchdog?.cancel();
    this.#retry?.cancel();
    await super.close();
  }

  /** How many times a request was sent. */
  count(command: Command): number {
    return this.sent.filter((sent) => sent.command === command).length;
  }

  async #delayed<T>(answer: Promise<T>): Promise<T> {
    await this.heldBack;
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(this.delayMs, resolve));
    return answer;
  }

  #never<T>(): Promise<T> {
    this.#watchdog ??= this.clock.setTimer(WATCHDOG_MS, () => {
      this.#disconnect();
    });
    return new Promise<T>((_, reject) => this.#unanswered.add(reject));
  }

  #disconnect(): void {
    this.#watchdog?.cancel();
    this.#watchdog = undefined;
    if (!this.#isConnected || !this.#isOpen) return;
    this.#isConnected = false;
    const error = new LockStoreError('STORE_UNREACHABLE', 'the connection was closed');
    for (const listener of this.listeners) listener.disconnected?.(error);
    for (const reject of this.#unanswered) reject(error);
    this.#unanswered.clear();
    this.#connectSoon();
  }

  #connectSoon(): void {
    this.#retry?.cancel();
    if (this.#isCut || !this.#isOpen) return;
    this.#retry = this.clock.setTimer(RECONNECT_MS, () => {
      if (this.#isCut) return;
      this.#isConnected = true;
      for (const listener of this.listeners) listener.connected?.();
    });
  }

  protected send<T>(command: Command, name: string, carryOut: () => Promise<T>): Promise<T> {
    if (!this.#isConnected) {
      return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false }));
    }
    this.sent.push({ command, name });
    const fate = this.#isCut ? 'lost' : this.fate(command, name);
    if (fate === 'carried') return this.#delayed(carryOut());
    if (fate === 'unanswered') return carryOut().then(() => this.#never<T>());
    if (fate === 'lost') return this.#never();
    return Promise.reject(new LockStoreError(fate, `made to fail with ${fate}`));
  }

  protected receive(deliver: () => void): void {
    if (this.isSubscribed && this.#isOpen && !this.#isCut && !this.loseMessages) deliver();
  }
}
