import { otherServer } from '../advice/servers.js';
import { StoreError } from '../base/errors/store.error.js';
import { describeValue } from '../base/text/describe-value.js';
import {
  Connection,
  type ConnectionParts,
  delayAfter,
  type Failures,
  type Session,
  type SessionParts,
} from './connection.js';
import { type Address, firstAnswer } from './first-answer.js';
import { MIN_LOCK_EXPIRY_MS, ttlOf } from './lease-id.js';
import { Listeners } from './listeners.js';
import { misconfigured } from './store-errors.js';
import { type CasRequest, type Store, type StoreListener, type SyncRequest, type SyncResult } from './store.js';

/** What a store on a server needs. `C` says where that server is. */
export interface ServerStoreOptions<C> {
  /** First part of the key of everything that the store writes. */
  readonly projectName: string;
  readonly connection: C;
  /**
   * Called before each attempt to connect: the password may have changed. What it returns is of the same kind.
   * @default `connection`
   */
  readonly readConnection?: (() => Promise<C>) | undefined;
  /** False: it receives no hints, and has one connection. Enough for heartbeats. @default true */
  readonly subscribes?: boolean;
  /**
   * The shortest TTL of a lease, until one that is kept is shorter: time limits of requests and connections follow it.
   * @default 10_000
   */
  readonly minTtlMs?: number;
}

/** A store on a server: one connection, for requests. */
export abstract class ServerStore<O extends ServerStoreOptions<unknown>, S extends Session> implements Store {
  abstract readonly name: string;
  protected readonly listeners = new Listeners();
  protected readonly requests: Connection<S> = this.newConnection({
    newSession: (lost) => this.newSession({ lost, answerTimeoutMs: this.answerTimeoutMs }),
    explain: this.#explain.bind(this),
    onReady: this.ready.bind(this),
    onLost: this.lost.bind(this),
  });
  /** Of all leases that it has kept. */
  protected minTtlMs = this.options.minTtlMs ?? 10_000;

  constructor(protected readonly options: O) {}

  async sync(request: SyncRequest): Promise<SyncResult> {
    const ttls = [...request.renew, ...request.grant].map(ttlOf).filter((ms) => ms >= MIN_LOCK_EXPIRY_MS);
    this.minTtlMs = Math.min(this.minTtlMs, ...ttls);
    const result = await this.sendSync(request);
    // a fencing token is made of it, and one that is no number makes a record unreadable for all replicas
    if (Number.isSafeInteger(result.time)) return result;
    const got = describeValue(result.time);
    throw new StoreError('STORE_MISCONFIGURED', `${this.name} answered 'sync' with a clock that is no number: ${got}`);
  }

  abstract compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]>;

  addListener(listener: StoreListener): () => void {
    return this.listeners.add(listener);
  }

  open(): void {
    this.requests.open();
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.requests.close();
  }

  protected abstract sendSync(request: SyncRequest): Promise<SyncResult>;
  protected abstract newSession(parts: SessionParts): Promise<S>;
  protected abstract toError(error: unknown, request?: string): StoreError;

  protected async source(): Promise<O['connection']> {
    return (await this.options.readConnection?.()) ?? this.options.connection;
  }

  /** How long nothing may arrive while a request waits for its answer. */
  protected readonly answerTimeoutMs = (): number => Math.min(1_500, this.minTtlMs / 5);

  protected newConnection(parts: Omit<ConnectionParts<S>, 'toError' | 'delayMs'>): Connection<S> {
    const delayMs = (failures: Failures): number => delayAfter(failures, this.answerTimeoutMs());
    return new Connection<S>({ ...parts, toError: this.toError.bind(this), delayMs });
  }

  /** Some clients do not pass on what another server says, or one that is full, before they have logged in. */
  async #explain(reason: unknown, address: Address): Promise<unknown> {
    if (this.toError(reason).code !== 'STORE_UNREACHABLE') return undefined;
    const answer = await firstAnswer(address);
    const other = otherServer(this.name, answer);
    if (other !== undefined) return misconfigured(`${this.name} is not connected: ${other}`, reason);
    return answer.startsWith('-ERR max') ? new Error(answer.slice(1).trim()) : undefined;
  }

  /** There is a new session. */
  protected ready(): void {
    this.listeners.each((listener) => listener.connected?.());
  }

  protected lost(error: StoreError): void {
    this.listeners.listening(false);
    this.listeners.each((listener) => listener.disconnected?.(error));
  }
}
