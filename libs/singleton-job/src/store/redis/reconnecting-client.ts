import { type EventEmitter } from 'node:events';
import { type Redis } from 'ioredis';
import { DISCONNECT_TIMEOUT_MS, isCluster, nodesOf, type RedisClient } from './redis-clients.js';
import { isMisconfiguration } from './redis-errors.js';
import { watchForStall } from './socket-watchdog.js';

const RETRY_MS = 500;

export interface LinkOptions<C extends RedisClient> {
  /** Makes a client that has not connected yet; undefined if there is nothing to connect to at the moment. */
  readonly create: () => C | undefined;
  readonly onReady: (client: C) => void;
  readonly onLost: () => void;
}

/**
 * Keeps one client connected from `open()` to `close()`. Whatever ends a client, a new one takes its place: at once if the
 * last attempt was long ago, else after a quarter to half a second.
 */
export class Link<C extends RedisClient> {
  readonly #options: LinkOptions<C>;
  #current: C | undefined;
  #isReady = false;
  #isOpen = false;
  #failure: unknown;
  #retry: NodeJS.Timeout | undefined;
  #attemptedAt = -Infinity;
  #firstAttempt = Promise.resolve();
  #endFirstAttempt: () => void = () => undefined;

  constructor(options: LinkOptions<C>) {
    this.#options = options;
  }

  /** The client while it can send; undefined while there is no connection. */
  get client(): C | undefined {
    return this.#isReady && this.#current?.status === 'ready' ? this.#current : undefined;
  }

  /** What went wrong since the connection last worked. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves once the first connection after `open()` stands or has failed: until then nothing is known of the server. */
  get firstAttempt(): Promise<void> {
    return this.#firstAttempt;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#firstAttempt = new Promise((resolve) => (this.#endFirstAttempt = resolve));
    this.#connect();
  }

  /** Gives this client up for a new one, unless that has happened already; `reason` is what is wrong until that stands. */
  drop(client: C, reason: unknown): void {
    if (client !== this.#current || !this.#isReady) return;
    this.#isReady = false;
    this.#failure = reason;
    client.disconnect();
  }

  /** Ends the connection: in an orderly way if the server goes along at once, else by force. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#isReady = false;
    this.#endFirstAttempt();
    clearTimeout(this.#retry);
    const client = this.#current;
    if (client === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const node of nodesOf(client)) destroySocket(node);
        resolve();
      }, DISCONNECT_TIMEOUT_MS);
      (client as EventEmitter).once('end', () => {
        clearTimeout(timer);
        resolve();
      });
      client.disconnect();
    });
  }

  #connect(): void {
    this.#attemptedAt = performance.now();
    const client = this.#options.create();
    if (client === undefined) {
      this.#connectLater();
      return;
    }
    this.#current = client;
    this.#watch(client);
    // failures come as events as well, and those say more
    client.connect().catch(() => undefined);
  }

  #watch(client: C): void {
    const events: EventEmitter = client;
    let failure: unknown;
    const failed = (error: unknown): void => {
      failure = error;
      this.#failure = error;
    };
    events.on('error', failed);
    if (isCluster(client)) {
      events.on('node error', failed);
      events.on('+node', (node: Redis) => {
        watchForStall(node);
        if (client.status === 'ready') connectSoon(node);
      });
    } else {
      watchForStall(client);
    }
    events.once('ready', () => {
      // with a wrong database number, for one, the client would go on with another database
      if (isMisconfiguration(failure)) client.disconnect();
      else void this.#becomeReady(client);
    });
    events.once('end', () => {
      this.#lose(client);
    });
  }

  async #becomeReady(client: C): Promise<void> {
    if (isCluster(client)) await Promise.all(client.nodes('master').map(connected));
    if (!this.#isOpen || client !== this.#current) return;
    this.#failure = undefined;
    this.#isReady = true;
    this.#endFirstAttempt();
    this.#options.onReady(client);
  }

  #lose(client: C): void {
    if (client !== this.#current) return;
    this.#current = undefined;
    this.#isReady = false;
    this.#failure ??= 'the connection was closed';
    this.#endFirstAttempt();
    this.#options.onLost();
    if (this.#isOpen) this.#connectLater();
  }

  #connectLater(): void {
    const pauseMs = RETRY_MS * (0.5 + Math.random() / 2);
    const delayMs = Math.max(this.#attemptedAt + pauseMs - performance.now(), 0);
    this.#retry = setTimeout(() => {
      this.#connect();
    }, delayMs);
  }
}

function destroySocket(node: Redis): void {
  const stream = node.stream as Redis['stream'] | undefined;
  stream?.destroy();
}

// A cluster connects to a node when it is first needed, and until then refuses all commands for it but one. That one comes
// first, also where it is a command of the client itself.
function connectSoon(node: Redis): void {
  setImmediate(() => {
    connectIdle(node);
  });
}

function connectIdle(node: Redis): void {
  if (node.status === 'wait' && node.options.readOnly !== true) node.connect().catch(() => undefined);
}

/** Resolves when the node is connected, or is known not to be. */
function connected(node: Redis): Promise<void> {
  connectIdle(node);
  if (node.status === 'ready' || node.status === 'end') return Promise.resolve();
  return new Promise((resolve) => {
    node.once('ready', resolve);
    node.once('end', resolve);
  });
}
