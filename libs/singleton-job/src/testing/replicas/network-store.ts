import { StoreError } from '../../base/errors/store.error.js';
import { type MemoryServer, MemoryStore, type Names, type RequestKind } from '../../store/memory.js';
import { type ProcessClock } from './process-clock.js';

/** The store in memory as one replica has it: over a network, which a test can cut. */
export class NetworkStore extends MemoryStore {
  protected isConnected = true;

  constructor(
    server: MemoryServer,
    protected readonly clock: ProcessClock,
  ) {
    super(server);
  }

  override deliver(names: Names): void {
    if (!this.isConnected) return;
    this.clock.deliver(() => {
      super.deliver(names);
    });
  }

  /** The connection is closed, and no other one can be made until {@link heal}. */
  partition(): void {
    this.isConnected = false;
    const error = new StoreError('STORE_UNREACHABLE', 'the connection was closed');
    this.listeners.each((listener) => listener.disconnected?.(error));
  }

  /** There is a connection again. */
  heal(): void {
    this.isConnected = true;
    this.listeners.each((listener) => listener.connected?.());
  }

  /** What becomes of a request that is sent. */
  protected meet<T>(_kind: RequestKind, _names: Names, carryOut: () => Promise<T>): Promise<T> {
    return carryOut();
  }

  protected override async send<T>(kind: RequestKind, names: Names, carryOut: () => T): Promise<T> {
    if (this.clock.isKilled) return new Promise<T>(() => undefined);
    if (!this.isConnected) throw new StoreError('STORE_UNREACHABLE', 'no connection', { wasSent: false });
    const answer = this.meet(kind, names, () => super.send(kind, names, carryOut));
    // an error waits for a halted process, as an answer does
    await answer.catch(() => undefined);
    await new Promise<void>(this.clock.deliver.bind(this.clock));
    return answer;
  }
}
