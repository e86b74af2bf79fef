import { type EventEmitter } from 'node:events';
import { type Redis } from 'ioredis';
import { reconnectDelayMs } from '../reconnect-delay.js';
import { ReportedLosses } from '../reported-losses.js';
import { DISCONNECT_TIMEOUT_MS, isCluster, nodesOf, type RedisClient } from './redis-clients.js';
import { failureText, isMisconfiguration, isWrongPassword } from './redis-errors.js';
import { tlsFix } from './redis-fixes.js';
import { SilenceWatchdog, SilentConnectionError } from '../silence-watchdog.js';

interface ReconnectingClientOptions<C extends RedisClient> {
  /** Creates a client that is not connected yet. Undefined: there is nothing to connect to at the moment. Called anew after a rejection. */
  readonly create: () => Promise<C | undefined>;
  readonly onReady: (client: C) => void;
  /**
   * The first attempt failed, or the connection ended. Called once until the next `onReady`. Called once more if `create` rejects at a
   * later attempt, and if one shows that a person must change something, such as the password.
   */
  readonly onLost: (reason: unknown) => void;
  /** Whether a new client may have another password. Then a node of a cluster that refuses the old one means a new client. */
  readonly hasNewPasswords?: boolean;
  /** For the jitter of the delay between two attempts. In [0, 1). */
  readonly random: () => number;
}

/**
 * Keeps one client connected from `open()` to `close()`. After the end of a connection it creates a new client: at once if the
 * watchdog closed the connection, otherwise after {@link reconnectDelayMs}.
 */
export class ReconnectingClient<C extends RedisClient> {
  readonly #options: ReconnectingClientOptions<C>;
  #current: C | undefined;
  #isReady = false;
  #isOpen = false;
  readonly #reported = new ReportedLosses();
  #failure: unknown;
  /** Since a connection worked. */
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #firstAttempt = Promise.resolve();
  #endFirstAttempt: () => void = () => undefined;

  constructor(options: ReconnectingClientOptions<C>) {
    this.#options = options;
  }

  /** The client while it can send. Undefined while there is no connection. */
  get client(): C | undefined {
    return this.#isReady && this.#current?.status === 'ready' ? this.#current : undefined;
  }

  /** What went wrong since the connection last worked. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when the first attempt after `open()` has succeeded or failed. */
  get firstAttempt(): Promise<void> {
    return this.#firstAttempt;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#firstAttempt = new Promise((resolve) => (this.#endFirstAttempt = resolve));
    void this.#connect();
  }

  /** Closes the connection of this client, unless it has been replaced already, and connects anew. */
  drop(client: C, reason: unknown): void {
    if (client !== this.#current) return;
    for (const node of nodesOf(client)) destroySocket(node);
    this.#lose(client, reason);
  }

  /** Closes the connection. Destroys the socket if that takes longer than 0.1 s. */
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

  async #connect(): Promise<void> {
    let client: C | undefined;
    try {
      client = await this.#options.create();
    } catch (error: unknown) {
      this.#lose(undefined, error);
      return;
    }
    if (!this.#isOpen) return;
    this.#current = client;
    if (client === undefined) {
      this.#retryLater();
      return;
    }
    this.#watch(client);
    // failures also come as events, which say more
    client.connect().catch(() => undefined);
  }

  #watch(client: C): void {
    const events: EventEmitter = client;
    let failure: unknown;
    const failed = (error: unknown): void => {
      failure = error;
      if (client === this.#current) this.#failure = error;
    };
    events.on('error', failed);
    if (isCluster(client)) {
      events.on('node error', (error: unknown) => {
        failed(error);
        if (this.#options.hasNewPasswords === true && isWrongPassword(error)) this.drop(client, error);
      });
      events.on('+node', (node: Redis) => {
        watchSilence(node);
        if (client.status === 'ready') connectSoon(node);
      });
    } else {
      watchSilence(client);
    }
    let hasAnswered = false;
    events.once('ready', () => {
      hasAnswered = true;
      // for example a wrong database number: ioredis would go on with another database
      if (isMisconfiguration(failure)) client.disconnect();
      else void this.#becomeReady(client);
    });
    events.once('end', () => {
      this.#lose(client, hasAnswered ? failure : whyNeverReady(client, failure));
    });
  }

  async #becomeReady(client: C): Promise<void> {
    if (isCluster(client)) await Promise.all(client.nodes('master').map(connected));
    if (!this.#isOpen || client !== this.#current) return;
    this.#failure = undefined;
    this.#failures = 0;
    this.#isReady = true;
    this.#reported.clear();
    this.#endFirstAttempt();
    this.#options.onReady(client);
  }

  #lose(client: C | undefined, reason: unknown): void {
    if (client !== this.#current) return;
    this.#current = undefined;
    this.#isReady = false;
    this.#failure = reason ?? this.#failure ?? 'the connection was closed';
    this.#endFirstAttempt();
    if (!this.#isOpen) return;
    if (this.#reported.isNews(client, isMisconfiguration(this.#failure))) this.#options.onLost(this.#failure);
    if (reason instanceof SilentConnectionError) this.#connectAfter(0);
    else this.#retryLater();
  }

  #retryLater(): void {
    this.#connectAfter(reconnectDelayMs(this.#failures, this.#options.random));
    this.#failures += 1;
  }

  #connectAfter(delayMs: number): void {
    this.#retry = setTimeout(() => {
      void this.#connect();
    }, delayMs);
  }
}

/** The failure of a connection that never became ready, with the fix if TLS may be the cause. */
function whyNeverReady(client: RedisClient, failure: unknown = 'the connection was closed'): unknown {
  if (isCluster(client)) return failure;
  const message = failureText(failure);
  const fix = tlsFix(message, client.options.tls !== undefined);
  return fix === undefined ? failure : new Error(`${message.replace(/[.:\s]+$/, '')}. ${fix}`, { cause: failure });
}

function watchSilence(redis: Redis): void {
  const watchdog = new SilenceWatchdog({
    socket: () => redis.stream,
    close: (error) => {
      redis.stream.destroy(error);
    },
  });
  // every command passes here, also those that ioredis sends by itself; its own queue is private
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const sent = send(command, stream);
    watchdog.watch(command.promise as Promise<unknown>);
    return sent;
  };
}

function destroySocket(node: Redis): void {
  const stream = node.stream as Redis['stream'] | undefined;
  stream?.destroy();
}

// ioredis connects to a node of a cluster with the first command for it, and refuses all others until then. So connect now. The
// wait lets a command of ioredis itself go first.
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
