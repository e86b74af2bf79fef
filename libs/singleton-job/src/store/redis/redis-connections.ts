import { LockStoreError } from '../../errors/index.js';
import { evictionCheck } from './eviction.js';
import { Link } from './reconnecting-client.js';
import { isCluster, nodesOf, type RedisClient, redisClients, type RedisConnection } from './redis-clients.js';
import { concernsOneLock, isConnectionLoss, isDemotion, isUnknownScript, redisError } from './redis-errors.js';
import { type Script, SCRIPTS } from './scripts.js';
import { Subscription } from './subscription.js';

export interface RedisGatewayOptions {
  readonly connection: RedisConnection;
  readonly channel: string;
  readonly onReachable: () => void;
  readonly onHearing: () => void;
  readonly onMessage: (text: string) => void;
  readonly onRefused: (error: LockStoreError) => void;
  readonly onDeaf: () => void;
  /** See {@link evictionCheck}. */
  readonly onMayEvict: (policy: string | undefined) => void;
}

/** What a failed command was, for the message. */
interface Sent {
  readonly command: string;
  readonly lock: string;
}

/**
 * The two connections of this process to Redis, one for commands and one for the subscription. A command is sent at once and
 * once, or rejects; it is never queued and never sent again.
 */
export class RedisGateway {
  readonly #commands: Link<RedisClient>;
  readonly #subscription: Subscription;
  #isClosed = false;

  constructor(options: RedisGatewayOptions) {
    const { connection, channel } = options;
    const clients = redisClients(connection);
    const { onReachable, onHearing, onMessage, onRefused, onDeaf } = options;
    const checkEviction = evictionCheck(options.onMayEvict);
    this.#commands = new Link({
      create: clients.commands,
      onReady: (client) => {
        preload(client);
        checkEviction(client);
        // not before: the nodes of a cluster have to be known
        this.#subscription.open();
        onReachable();
      },
      onLost: () => undefined,
    });
    this.#subscription = new Subscription({
      channel,
      create: () => clients.subscriber(this.#commands.client),
      onSubscribed: onHearing,
      onMessage,
      onRefused,
      onDeaf,
    });
  }

  get isSubscribed(): boolean {
    return this.#subscription.isSubscribed;
  }

  open(): void {
    if (!this.#isClosed) this.#commands.open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#commands.close(), this.#subscription.close()]);
  }

  /** Runs a script, by its hash if the server knows it. */
  async run(script: Script, keys: readonly [string, string], args: readonly (string | number)[]): Promise<unknown> {
    const client = this.#commands.client ?? (await this.#connected());
    try {
      return await client.evalsha(script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      // this answer is certain: nothing was carried out
      if (!isUnknownScript(error)) throw this.#failed(client, error, { command: script.name, lock: keys[0] });
    }
    const again = this.#commands.client ?? (await this.#connected());
    try {
      return await again.eval(script.source, keys.length, ...keys, ...args);
    } catch (error) {
      throw this.#failed(again, error, { command: script.name, lock: keys[0] });
    }
  }

  /** Answers how many heard it. */
  async publish(channel: string, message: string): Promise<number> {
    const client = this.#commands.client ?? (await this.#connected());
    try {
      return await client.publish(channel, message);
    } catch (error) {
      throw this.#failed(client, error, { command: 'publish', lock: channel });
    }
  }

  /** What `send` sends leaves in one write for each connection. */
  batch(send: () => void): void {
    const { client } = this.#commands;
    // a node of a cluster that was not needed yet has no socket
    const streams =
      client === undefined ? [] : nodesOf(client).flatMap(({ stream }) => (stream as typeof stream | undefined) ?? []);
    for (const stream of streams) stream.cork();
    try {
      send();
    } finally {
      for (const stream of streams) stream.uncork();
    }
  }

  /** Right after `open()` the first connection is waited for; later a command that has none is refused at once. */
  async #connected(): Promise<RedisClient> {
    await this.#commands.firstAttempt;
    const { client, failure } = this.#commands;
    if (this.#isClosed) throw new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false });
    if (client !== undefined) return client;
    throw redisError(failure ?? 'no connection yet', 'Redis is not connected', { wasSent: false });
  }

  #failed(client: RedisClient, error: unknown, { command, lock }: Sent): LockStoreError {
    if (isDemotion(error)) this.#commands.drop(client, error);
    // a command that was under way when its connection ended knows only that; the connection knows why
    const cause = isConnectionLoss(error) ? (this.#commands.failure ?? error) : error;
    return redisError(cause, `Redis did not answer '${command}'${concernsOneLock(cause) ? ` for '${lock}'` : ''}`);
  }
}

/** Sent ahead of everything else, so that the first pulse of a thousand jobs is hashes and not a thousand whole scripts. */
function preload(client: RedisClient): void {
  const primaries = isCluster(client) ? client.nodes('master') : [client];
  for (const node of primaries) {
    for (const { source } of SCRIPTS) node.script('LOAD', source).catch(() => undefined);
  }
}
