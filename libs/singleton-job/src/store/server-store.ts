import { type LockStoreError } from '../base/errors/lock-store.error.js';
import { Connection, type ConnectionParts, type Lost, type Session } from './connection.js';
import { hintText, messagesMissing } from './hints.js';
import { LEAST_LOCK_EXPIRY_MS, lifeOf } from './lease-id.js';
import { Listeners } from './listeners.js';
import { type CasRequest, type Store, type StoreListener, type SyncRequest, type SyncResult } from './store.js';

/** How often to check that messages arrive: normally there are none for a long time. */
export const CHECK_EVERY_MS = 3_000;

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
   * The shortest life of a lease, until one that is kept is shorter: time limits of requests and connections follow it.
   * @default 10_000
   */
  readonly shortestLifeMs?: number;
}

/**
 * A store on a server: one connection for requests, and while it has a session, one for hints. That one is opened anew
 * with each session for requests, so that both are of the same server also when a name leads to another.
 */
export abstract class ServerStore<O extends ServerStoreOptions<unknown>, S extends Session> implements Store {
  abstract readonly name: string;
  protected readonly listeners = new Listeners();
  protected readonly requests: Connection<S> = this.#newConnection({
    newSession: this.newSession.bind(this),
    onReady: () => {
      if (this.options.subscribes !== false) this.#subscribe();
      this.listeners.each((listener) => listener.connected?.());
    },
    onLost: (error) => {
      void this.hints?.close();
      this.listeners.listening(false);
      this.listeners.each((listener) => listener.disconnected?.(error));
    },
  });
  /** For each new session of {@link requests}. */
  protected hints: Connection<S> | undefined;
  /** Of all leases that it has kept. */
  protected shortestLifeMs = this.options.shortestLifeMs ?? 10_000;

  constructor(protected readonly options: O) {}

  sync(request: SyncRequest): Promise<SyncResult> {
    const lives = [...request.renew, ...request.grant].map(lifeOf).filter((ms) => ms >= LEAST_LOCK_EXPIRY_MS);
    this.shortestLifeMs = Math.min(this.shortestLifeMs, ...lives);
    return this.sendSync(request);
  }

  abstract compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]>;

  async publish(names: readonly string[] | '*'): Promise<void> {
    await this.sendMessage(hintText(names)).catch((error: unknown) => {
      this.#messagesFailed(error as LockStoreError);
      throw error;
    });
  }

  addListener(listener: StoreListener): () => void {
    return this.listeners.add(listener);
  }

  open(): void {
    this.requests.open();
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await Promise.all([this.requests.close(), this.hints?.close()]);
  }

  protected abstract sendSync(request: SyncRequest): Promise<SyncResult>;
  protected abstract newSession(lost: Lost): Promise<S>;
  /** The same for hints. */
  protected abstract newSubscriber(lost: Lost): Promise<S>;
  /** To all replicas. */
  protected abstract sendMessage(text: string): Promise<unknown>;
  protected abstract toError(error: unknown, request?: string): LockStoreError;
  /** Whether messages arrive on the connection for hints. Rejects where the server refuses them. */
  protected abstract hintsArrive(session: S): Promise<boolean>;

  protected async source(): Promise<O['connection']> {
    return (await this.options.readConnection?.()) ?? this.options.connection;
  }

  /** How long nothing may arrive while a request waits for its answer. */
  protected readonly silenceMs = (): number => Math.min(1_500, this.shortestLifeMs / 5);

  protected delayMs(...[failures]: Parameters<ConnectionParts<S>['delayMs']>): number {
    return Math.min(50 * 2 ** failures, this.silenceMs() / 3) * (0.5 + Math.random() / 2);
  }

  #newConnection(parts: Pick<ConnectionParts<S>, 'newSession' | 'onReady' | 'onLost'>): Connection<S> {
    return new Connection<S>({ ...parts, toError: this.toError.bind(this), delayMs: this.delayMs.bind(this) });
  }

  #subscribe(): void {
    this.hints = this.#newConnection({
      newSession: this.newSubscriber.bind(this),
      onReady: () => void this.#check(this.hints?.session),
      onLost: (error) => {
        this.listeners.listening(false);
        this.#messagesFailed(error);
      },
    });
    this.hints.open();
  }

  /** Reports whether messages arrive, again and again until the session ends. */
  async #check(session: S | undefined): Promise<void> {
    const { hints } = this;
    if (hints === undefined || session === undefined || hints.session !== session) return;
    const arrives = await hints.send('subscribe', this.hintsArrive.bind(this)).catch((error: unknown) => {
      this.#messagesFailed(error as LockStoreError);
      return false;
    });
    if (hints.session !== session) return;
    this.listeners.listening(arrives);
    setTimeout(() => void this.#check(session), CHECK_EVERY_MS).unref();
  }

  /** A message could not be sent or received. */
  #messagesFailed({ code, message }: LockStoreError): void {
    if (code !== 'STORE_UNREACHABLE') this.listeners.warn(messagesMissing(this.name, message));
  }
}
