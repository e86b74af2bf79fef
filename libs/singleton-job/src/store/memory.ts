import { StoreError } from '../base/errors/store.error.js';
import { Listeners } from './listeners.js';
import {
  type CasRequest,
  type Incarnation,
  type LeaseId,
  ttlOf,
  type Store,
  type StoredRecord,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
  type Write,
} from './store.js';

/** How often records that may be forgotten are removed. Until then nobody sees them. */
const SWEEP_EVERY_MS = 60_000;

const NOT_NOTED: Incarnation = { id: '', since: 0, isFirst: false };

/** All that a server keeps, and would lose at once. */
export class MemoryData {
  /** Undefined: nothing is noted. */
  noted: Incarnation | undefined;
  /** When each lease ends. */
  readonly leases = new Map<LeaseId, number>();
  /** With the time at which each may be forgotten. */
  readonly records = new Map<string, StoredRecord & { readonly forgetAt: number }>();
}

/** Leases and records in the memory of this process: the rules of a store in their shortest form. */
export class MemoryServer {
  protected data = new MemoryData();
  #sweepAt = 0;

  /** `clock`: only its wall clock is read. `server`: which server this is. */
  constructor(
    private readonly clock: { wallNow(): number },
    protected server = 'memory',
  ) {}

  readonly stores = new Set<MemoryStore>();

  sync(request: SyncRequest): SyncResult {
    const { renew, grant, revoke } = request;
    const time = this.now();
    const records = request.read.map((name) => this.recordOf(name, time));
    if (renew.length + grant.length > 0) this.#note(request.isNewcomer, time);
    const { leases } = this.data;
    for (const [id, end] of leases) {
      if (end <= time) leases.delete(id);
      else leases.set(id, Math.min(end, time + ttlOf(id)));
    }
    for (const id of [...renew.filter((one) => leases.has(one)), ...grant]) leases.set(id, time + ttlOf(id));
    for (const id of revoke) leases.delete(id);
    const remaining = new Map([...leases].map(([lease, end]) => [lease, end - time]));
    return { time, incarnation: { ...(this.#noted ?? NOT_NOTED) }, leases: remaining, records };
  }

  compareAndSet({ incarnation, until, writes }: CasRequest): (number | undefined)[] {
    const time = this.now();
    this.#sweep(time);
    const isCurrent = this.#noted?.id === incarnation && time < until;
    return writes.map((write) => (isCurrent ? this.#write(write, time) : undefined));
  }

  protected now(): number {
    return Math.floor(this.clock.wallNow());
  }

  /** What is noted of this server. */
  get #noted(): Incarnation | undefined {
    const { noted } = this.data;
    return noted?.id.startsWith(`${this.server}/`) ? noted : undefined;
  }

  #note(isNewcomer: boolean, since: number): void {
    if (this.#noted !== undefined) return;
    const isFirst = this.data.noted === undefined && isNewcomer;
    this.data.noted = { id: `${this.server}/${since}`, since, isFirst };
  }

  /** As a replica sees it. */
  protected recordOf(name: string, time: number): StoredRecord | 'unreadable' | undefined {
    const record = this.data.records.get(name);
    if (record === undefined || record.forgetAt <= time) return undefined;
    return { revision: record.revision, value: record.value };
  }

  #write({ name, ifRevision, value, forgetAfterMs = Infinity }: Write, time: number): number | undefined {
    const record = this.recordOf(name, time);
    if (record === 'unreadable' || (record?.revision ?? 0) !== ifRevision) return undefined;
    const revision = Math.max(ifRevision + 1, time);
    this.data.records.set(name, { revision, value, forgetAt: time + forgetAfterMs });
    return revision;
  }

  #sweep(time: number): void {
    if (time < this.#sweepAt) return;
    this.#sweepAt = time + SWEEP_EVERY_MS;
    for (const [name, { forgetAt }] of this.data.records) if (forgetAt <= time) this.data.records.delete(name);
  }
}

/** A request to a store. @internal */
export type RequestKind = keyof Pick<Store, 'sync' | 'compareAndSet' | 'publish'>;

/** Of records, or any. @internal */
export type Names = readonly string[] | '*';

/** A store in the memory of this process, for `store: 'memory'` and for tests. Stores of one server see the same. */
export class MemoryStore implements Store {
  /** `memory`. */
  readonly name = 'memory';
  /** @internal */
  protected readonly listeners = new Listeners();
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor(private readonly server: MemoryServer) {}

  /** See `Store.sync`. */
  sync(request: SyncRequest): Promise<SyncResult> {
    return this.send('sync', request.read, () => this.server.sync(request));
  }

  /** See `Store.compareAndSet`. */
  compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    const names = request.writes.map(({ name }) => name);
    return this.send('compareAndSet', names, () => this.server.compareAndSet(request));
  }

  /** See `Store.publish`. */
  publish(names: readonly string[] | '*'): Promise<void> {
    return this.send('publish', names, () => {
      for (const store of this.server.stores) store.deliver(names);
    });
  }

  /** A hint arrives. @internal */
  deliver(names: readonly string[] | '*'): void {
    this.listeners.each((listener) => listener.hint?.(names));
  }

  /** See `Store.addListener`. */
  addListener(listener: StoreListener): () => void {
    return this.listeners.add(listener);
  }

  /** See `Store.open`. */
  open(): void {
    if (this.#state !== 'new') return;
    this.#state = 'open';
    this.server.stores.add(this);
    queueMicrotask(() => {
      if (this.#state !== 'open') return;
      this.listeners.each((listener) => listener.connected?.());
      this.listeners.each((listener) => listener.listening?.(true));
    });
  }

  /** See `Store.close`. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.server.stores.delete(this);
    return Promise.resolve();
  }

  /** Resolves in the next turn: a store in a process is asked and answers later too. @internal */
  protected async send<T>(_kind: RequestKind, _names: Names, carryOut: () => T): Promise<T> {
    await Promise.resolve();
    if (this.#state !== 'open') throw new StoreError('STORE_UNREACHABLE', `the store '${this.name}' is not open`);
    return carryOut();
  }
}
