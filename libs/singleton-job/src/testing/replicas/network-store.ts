import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Timer } from '../../base/time/clock.js';
import { type MemoryServer, MemoryStore } from '../../store/memory.js';
import { type CasRequest, type Store, type SyncRequest, type SyncResult } from '../../store/store.js';
import { type ProcessClock } from './process-clock.js';

/** A request from a process to its store. */
export type RequestKind = keyof Pick<Store, 'sync' | 'compareAndSet' | 'publish'>;

/** A connection on which an answer is missing is closed after that. */
const WATCHDOG_MS = 1_500;
const RECONNECT_MS = 250;

/** The store in memory as one replica has it: over a network, which a test can cut. */
export class NetworkStore extends MemoryStore {
  #isConnected = true;
  #isPartitioned = false;
  #unanswered: ((error: LockStoreError) => void)[] = [];
  /** Of a connection its watchdog, else the next attempt. */
  #timer: Timer | undefined;

  constructor(
    server: MemoryServer,
    protected readonly clock: ProcessClock,
  ) {
    super(server);
  }

  override sync(request: SyncRequest): Promise<SyncResult> {
    return this.#send('sync', request.read, () => super.sync(request));
  }

  override compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    const names = request.writes.map(({ name }) => name);
    return this.#send('compareAndSet', names, () => super.compareAndSet(request));
  }

  override publish(names: readonly string[] | '*'): Promise<void> {
    return this.#send('publish', names, () => super.publish(names));
  }

  override hear(names: readonly string[] | '*'): void {
    const arrive = (): void => {
      super.hear(names);
    };
    if (!this.#isPartitioned) this.clock.deliver(arrive);
  }

  override async close(): Promise<void> {
    this.#isConnected = false;
    this.#timer?.cancel();
    await super.close();
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

  /** Closes the connection. Another one is ready a moment later. */
  reconnect(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    const error = new LockStoreError('STORE_UNREACHABLE', 'the connection was closed');
    this.listeners.each((listener) => listener.disconnected?.(error));
    for (const reject of this.#unanswered.splice(0)) reject(error);
    this.#scheduleConnection();
  }

  /** What becomes of a request that is sent while the network works. */
  protected meet<T>(_kind: RequestKind, _names: readonly string[] | '*', carryOut: () => Promise<T>): Promise<T> {
    return carryOut();
  }

  /** The request or its answer is lost. */
  protected loseAnswer<T>(): Promise<T> {
    this.#timer ??= this.clock.setTimer(WATCHDOG_MS, () => {
      this.reconnect();
    });
    return new Promise<T>((_, reject) => this.#unanswered.push(reject));
  }

  async #send<T>(kind: RequestKind, names: readonly string[] | '*', carryOut: () => Promise<T>): Promise<T> {
    if (!this.#isConnected) throw new LockStoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false });
    if (this.#isPartitioned || this.clock.isKilled) return this.loseAnswer();
    const answer = this.meet(kind, names, carryOut);
    // an error waits for a halted process, as an answer does
    await answer.catch(() => undefined);
    await new Promise<void>(this.clock.deliver.bind(this.clock));
    return answer;
  }

  #scheduleConnection(): void {
    this.#timer?.cancel();
    this.#timer = this.clock.setTimer(RECONNECT_MS, () => {
      if (this.#isPartitioned) return;
      this.#timer = undefined;
      this.#isConnected = true;
      this.listeners.each((listener) => listener.connected?.());
    });
  }
}
