import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Listeners } from '../listeners.js';
import { ReconnectingClient } from './reconnecting-client.js';
import {
  isCluster,
  nodesOf,
  type RedisClient,
  redisClients,
  type RedisClients,
  type ReadRedisConnection,
  type RedisConnectionOptions,
} from './redis-clients.js';
import {
  isConnectionLoss,
  isDemotion,
  isMisconfiguration,
  isUnavailable,
  isUnknownScript,
  redisError,
} from './redis-errors.js';
import { type FailedRequest } from './redis-fixes.js';
import { type Script } from './script.js';
import { SCRIPTS } from './scripts.js';
import { serverCheck } from './server-check.js';
import { Subscription } from './subscription.js';

interface RedisConnectionsOptions {
  readonly projectName: string;
  readonly connection: RedisConnectionOptions;
  /** Called for each new client. @default every client has `connection` */
  readonly readConnection?: ReadRedisConnection | undefined;
  /** Undefined: there is no subscription. */
  readonly channel: string | undefined;
  readonly listeners: Listeners;
  readonly onMessage: (text: string) => void;
  /** In [0, 1). */
  readonly random: () => number;
}

/** A sent command, for the message of its error. */
type Sent = Required<Pick<FailedRequest, 'command' | 'key'>>;

/**
 * The connections of a process to Redis: one for commands, and one for the subscription if there is one. A command is sent at once,
 * or rejects. It is never queued and never sent again. All commands of one turn of the event loop leave in one write.
 */
export class RedisConnections {
  readonly #projectName: string;
  readonly #clients: RedisClients;
  readonly #commands: ReconnectingClient<RedisClient>;
  readonly #subscription: Subscription | undefined;
  #isCorked = false;
  #isClosed = false;

  constructor(options: RedisConnectionsOptions) {
    const { projectName, connection, readConnection, channel, listeners, onMessage, random } = options;
    const clients = redisClients(connection, random, readConnection);
    const checkServer = serverCheck({
      warn: (warning) => {
        listeners.each((listener) => listener.warning?.(warning));
      },
      wrongServer: (client, error) => {
        this.#commands.drop(client, error);
      },
    });
    this.#projectName = projectName;
    this.#clients = clients;
    this.#commands = new ReconnectingClient({
      create: clients.commands,
      onReady: (client) => {
        preload(client);
        checkServer(client);
        // only now: the nodes of a cluster must be known
        this.#subscription?.open();
        listeners.each((listener) => listener.connected?.());
      },
      onLost: (reason) => {
        const error = this.#notConnected(reason);
        listeners.each((listener) => listener.disconnected?.(error));
      },
      hasNewPasswords: readConnection !== undefined,
      random,
    });
    const create = () => clients.subscriber(this.#commands.client);
    if (channel === undefined) return;
    const denied = (error: unknown) => this.error(error, { command: 'subscribe', key: channel });
    this.#subscription = new Subscription({ channel, listeners, create, onMessage, denied, random });
  }

  get isCluster(): boolean {
    return this.#clients.isCluster;
  }

  get database(): number {
    return this.#clients.database;
  }

  get isSubscribed(): boolean {
    return this.#subscription?.isSubscribed === true;
  }

  open(): void {
    if (!this.#isClosed) this.#commands.open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#commands.close(), this.#subscription?.close()]);
  }

  error(error: unknown, request: Partial<FailedRequest>): LockStoreError {
    return redisError(error, { projectName: this.#projectName, isCluster: this.isCluster, ...request });
  }

  /** Runs a script, by its hash if the server knows it. */
  run({ name, sha, source }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.#send({ command: name, key: keys[0] ?? '' }, (client) =>
      client.evalsha(sha, keys.length, ...keys, ...args).catch((error: unknown) => {
        // sending it again is safe: Redis certainly did not run the script
        if (isUnknownScript(error)) return this.#corked(client).eval(source, keys.length, ...keys, ...args);
        throw error;
      }),
    );
  }

  get(key: string): Promise<string | null> {
    return this.#send({ command: 'get', key }, (client) => client.get(key));
  }

  hmget(key: string, ...fields: string[]): Promise<(string | null)[]> {
    return this.#send({ command: 'hmget', key }, (client) => client.hmget(key, ...fields));
  }

  /** Whether this user may ask for INFO. True if there is no answer. */
  async isInfoPermitted(): Promise<boolean> {
    try {
      await this.#send({ command: 'info', key: '' }, (client) => client.info('server'));
      return true;
    } catch (error: unknown) {
      return !isMisconfiguration(error);
    }
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#send({ command: 'publish', key: channel }, (client) => client.publish(channel, message));
  }

  async #send<T>(sent: Sent, command: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = this.#commands.client ?? (await this.#connected());
    try {
      return await command(this.#corked(client));
    } catch (error) {
      throw this.#failed(client, error, sent);
    }
  }

  /** Right after `open()` a request waits for the first attempt. Later it rejects at once if there is no connection. */
  async #connected(): Promise<RedisClient> {
    await this.#commands.firstAttempt;
    const { client, failure } = this.#commands;
    if (this.#isClosed) throw new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false });
    if (client !== undefined) return client;
    throw this.#notConnected(failure ?? 'no connection yet');
  }

  #corked(client: RedisClient): RedisClient {
    if (this.#isCorked) return client;
    this.#isCorked = true;
    // a node of a cluster without commands so far has no socket
    const streams = nodesOf(client).flatMap(({ stream }) => (stream as typeof stream | undefined) ?? []);
    for (const stream of streams) stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      for (const stream of streams) stream.uncork();
    });
    return client;
  }

  #failed(client: RedisClient, error: unknown, sent: Sent): LockStoreError {
    if (isCluster(client)) {
      if (isDemotion(error)) client.refreshSlotsCache();
    } else if (isDemotion(error) || isUnavailable(error)) {
      this.#commands.drop(client, error);
    }
    // the error of the command says only that the connection ended; the connection knows why
    const cause = isConnectionLoss(error) ? (this.#commands.failure ?? error) : error;
    return this.error(cause, sent);
  }

  #notConnected(reason: unknown): LockStoreError {
    return this.error(reason, { wasSent: false });
  }
}

/** Sent before everything else, so that the first requests of a thousand jobs send hashes and not whole scripts. */
function preload(client: RedisClient): void {
  const primaries = isCluster(client) ? client.nodes('master') : [client];
  for (const node of primaries) {
    for (const { source } of SCRIPTS) node.script('LOAD', source).catch(() => undefined);
  }
}
