import { type EventEmitter } from 'node:events';
import { type Redis, type RedisOptions } from 'ioredis';
import { isCluster, nodesOf, type RedisClient } from './redis-clients.js';
import { CONNECTION_LOST, type FailedRequest, NOT_THE_PRIMARY, redisError, says } from './redis-errors.js';
import { watchSilence } from './silence-watchdog.js';

export interface ConnectionSettings {
  /** How long nothing may arrive while a command waits for its answer. */
  readonly silenceMs: number;
  /** What changes from one connection to the next, such as the password. Called before each attempt; a rejection is a failed attempt. */
  readonly readOptions: () => Promise<RedisOptions>;
}

interface ConnectionObserver {
  /** Rejects if the server is of no use. Then the connection is opened anew. Not called again after it has passed. */
  readonly check?: () => Promise<void>;
  /** There is a connection. In a cluster also when a node that was lost is connected again, or another one in its place. */
  readonly onReady: () => void;
  /** The connection ended, or an attempt failed. */
  readonly onLost: (reason: unknown) => void;
}

const CLOSED = new Error('the connection was closed');

/** Keeps one client connected from `open()` to `close()`. */
export class RedisConnection<C extends RedisClient = RedisClient> {
  state: 'new' | 'connecting' | 'ready' | 'closed' = 'new';
  /** Resolves when the first attempt has succeeded or failed. */
  readonly firstAttempt: Promise<void>;
  #endFirstAttempt: () => void = () => undefined;
  #options: RedisOptions = {};
  /** Of this attempt, of this connection, or of one of its nodes. */
  #error: unknown;
  #lastReason: unknown = CLOSED;
  /** Since a request was answered. */
  #failures = 0;
  #hasWorked = false;
  #hasLostNode = false;
  #retry: NodeJS.Timeout | undefined;

  /** `client` is not connected yet. */
  constructor(
    readonly client: C,
    private readonly settings: ConnectionSettings,
    private readonly observer: ConnectionObserver,
  ) {
    this.firstAttempt = new Promise((resolve) => (this.#endFirstAttempt = resolve));
    const events: EventEmitter = client;
    events
      .on('error', this.#failed)
      .on('ready', () => void this.#becomeReady())
      .on('end', this.#end);
    events.on('node error', this.#failed).on('+node', this.#adoptNode);
    if (!isCluster(client)) this.#adopt(client);
  }

  /** Why there is no connection. The error of a command says only that there is none. */
  get reason(): unknown {
    return this.#error ?? this.#lastReason;
  }

  get kind(): FailedRequest['kind'] {
    if (isCluster(this.client)) return 'cluster';
    if (this.#hasWorked) return 'server';
    return this.client.options.tls === undefined ? 'plain' : 'tls';
  }

  open(): void {
    if (this.state === 'new') void this.#connect();
  }

  /** A request was answered: if this connection is lost, the next one comes soon. */
  answered(): void {
    this.#failures = 0;
    this.#error = undefined;
  }

  /** What is under way rejects. */
  close(): void {
    this.state = 'closed';
    this.#endFirstAttempt();
    clearTimeout(this.#retry);
    const nodes = nodesOf(this.client);
    this.client.disconnect();
    // a server that hangs would not close it; a node without commands so far has no socket
    for (const { stream } of nodes) (stream as typeof stream | undefined)?.destroy();
  }

  async #connect(): Promise<void> {
    this.state = 'connecting';
    this.#error = undefined;
    try {
      await this.#prepare();
    } catch (error: unknown) {
      this.#error = error;
      this.#end();
      return;
    }
    if ((this.state as string) === 'closed') return;
    this.client.connect().catch((error: unknown) => {
      // it is an event as well, which says more; but not if the name of a cluster is unknown
      if (this.#error === undefined) this.#failed(error);
    });
  }

  /** ioredis reads the options of a client when it connects. */
  async #prepare(): Promise<void> {
    this.#options = await this.settings.readOptions();
    for (const node of nodesOf(this.client)) Object.assign(node.options, this.#options);
  }

  #adopt(node: Redis): void {
    Object.assign(node.options, this.#options);
    node.options.reconnectOnError = (error) => {
      const mustReconnect = says(error, NOT_THE_PRIMARY);
      if (mustReconnect) this.#error = error;
      return mustReconnect;
    };
    watchSilence(node, this.settings.silenceMs);
  }

  readonly #adoptNode = (node: Redis): void => {
    this.#adopt(node);
    node.on('ready', () => {
      if (this.#hasLostNode && this.state === 'ready') void this.#becomeReady();
      node.once('end', () => (this.#hasLostNode = true));
    });
    // its password may have changed
    node.on('end', () => {
      if (this.state !== 'closed') this.#prepare().catch(this.#failed);
    });
  };

  readonly #failed = (error: unknown): void => {
    if (!says(error, CONNECTION_LOST)) this.#error = error;
  };

  readonly #becomeReady = async (): Promise<void> => {
    const { client, observer } = this;
    if (this.state === 'closed') return;
    try {
      if (!this.#hasWorked) await observer.check?.();
    } catch (error: unknown) {
      this.#error = error;
    }
    // for example a wrong database number: ioredis would go on with another database
    const { code } = redisError(this.#error, { projectName: '', kind: this.kind });
    if (!isCluster(client) && code === 'STORE_MISCONFIGURED') {
      client.disconnect();
      return;
    }
    // it was closed or lost meanwhile
    if ((this.state as string) === 'closed' || client.status !== 'ready') return;
    this.state = 'ready';
    this.#hasWorked = true;
    this.#error = undefined;
    this.#hasLostNode = false;
    this.#endFirstAttempt();
    observer.onReady();
  };

  readonly #end = (): void => {
    if (this.state === 'closed') return;
    this.#lastReason = this.#error ?? CLOSED;
    this.state = 'connecting';
    this.#failures += 1;
    const delayMs = Math.min(50 * this.#failures, this.settings.silenceMs / 3) * (0.5 + Math.random());
    this.#retry = setTimeout(() => void this.#connect(), delayMs);
    this.#endFirstAttempt();
    this.observer.onLost(this.#lastReason);
  };
}
