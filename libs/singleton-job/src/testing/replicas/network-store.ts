import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type MemoryServer, MemoryStore } from '../../store/memory.js';
import { type CasRequest, type Store, type SyncRequest, type SyncResult } from '../../store/store.js';
import { type ProcessClock } from './process-clock.js';

/** A request from a process to its store. */
export type RequestKind = keyof Pick<Store, 'sync' | 'compareAndSet' | 'publish'>;

/** The store in memory as one replica has it: over a network, which a test can cut. */
export class NetworkStore extends MemoryStore {
  protected isConnected = true;

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
    if (!this.isConnected) return;
    this.clock.deliver(() => {
      super.hear(names);
    });
  }

  /** The connection is closed, and no other one can be made until {@link heal}. */
  partition(): void {
    this.isConnected = false;
    const error = new LockStoreError('STORE_UNREACHABLE', 'the connection was closed');
    this.listeners.each((listener) => listener.disconnected?.(error));
  }

  /** There is a connection again. */
  heal(): void {
    this.isConnected = true;
    this.listeners.each((listener) => listener.connected?.());
  }

  /** What becomes of a request that is sent. */
  protected meet<T>(_kind: RequestKind, _names: readonly string[] | '*', carryOut: () => Promise<T>): Promise<T> {
    return carryOut();
  }

  async #send<T>(kind: RequestKind, names: readonly string[] | '*', carryOut: () => Promise<T>): Promise<T> {
    if (this.clock.isKilled) return new Promise<T>(() => undefined);
    if (!this.isConnected) throw new LockStoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false });
    const answer = this.meet(kind, names, carryOut);
    // an error waits for a halted process, as an answer does
    await answer.catch(() => undefined);
    await new Promise<void>(this.clock.deliver.bind(this.clock));
    return answer;
  }
}
