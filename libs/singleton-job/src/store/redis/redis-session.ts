import { type Redis, type RedisOptions } from 'ioredis';
import { type EventEmitter } from 'node:events';
import { type Session, type SessionParts } from '../connection.js';
import { type Address } from '../first-answer.js';
import { watchSilence } from '../silence-watchdog.js';
import { isCluster, nodesOf, type RedisClient } from './redis-clients.js';
import { CONNECTION_LOST, NOT_THE_PRIMARY, says } from './redis-errors.js';

interface RedisSessionParts extends SessionParts {
  /** Checks the server. Rejects if it is of no use, or if this error is of the kind that waits for a person. */
  readonly check: (client: RedisClient, error: unknown) => Promise<void>;
  /** What changes from one connection to the next. Called for each node of a cluster that was lost. */
  readonly readCredentials: () => Promise<RedisOptions>;
}

/** One client of ioredis, from its connection to its end. */
export class RedisSession implements Session {
  /** Why the session ended, or one of its nodes. The error of a command says only that it did. */
  #error: unknown;
  #credentials: RedisOptions = {};

  constructor(
    readonly client: RedisClient,
    private readonly parts: RedisSessionParts,
  ) {
    const events: EventEmitter = client;
    events.on('error', this.#failed).on('node error', this.#failed).on('+node', this.#adoptNode);
    events.on('end', () => {
      parts.lost(this.#error ?? new Error('the connection was closed'));
    });
    if (!isCluster(client)) this.#adopt(client);
  }

  get address(): Address | undefined {
    if (isCluster(this.client)) return undefined;
    const { host, port, path, sentinels } = this.client.options;
    if (host === undefined || port === undefined || (path ?? sentinels) != null) return undefined;
    return { host, port };
  }

  async connect(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error: unknown) {
      throw this.#error ?? error;
    }
    await this.parts.check(this.client, this.#error);
    this.#error = undefined;
  }

  async send<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    try {
      const answer = await command(this.client);
      this.#error = undefined;
      return answer;
    } catch (error: unknown) {
      throw says(error, CONNECTION_LOST) ? (this.#error ?? error) : error;
    }
  }

  end(): void {
    const nodes = nodesOf(this.client);
    this.client.disconnect();
    // a server that hangs would not close it; a node without commands so far has no socket
    for (const { stream } of nodes) (stream as typeof stream | undefined)?.destroy();
  }

  #adopt(node: Redis): void {
    node.options.reconnectOnError = (error) => {
      const mustReconnect = says(error, NOT_THE_PRIMARY);
      if (mustReconnect) this.#error = error;
      return mustReconnect;
    };
    // no time-out of a statement: Redis keeps nothing of a client that is gone
    const silent = ({ message }: Error) => node.stream.destroy(new Error(message));
    const watched = { stream: () => node.stream, answerTimeoutMs: this.parts.answerTimeoutMs, silent };
    // every command passes here, also those that ioredis sends by itself: a server may accept connections and then hang
    const send = node.sendCommand.bind(node);
    node.sendCommand = (command, stream) => {
      const sent = send(command, stream);
      if ((node.stream as unknown) !== undefined) watchSilence(command.promise, watched).catch(() => undefined);
      return sent;
    };
  }

  readonly #adoptNode = (node: Redis): void => {
    Object.assign(node.options, this.#credentials);
    this.#adopt(node);
    node.on('end', () => {
      // the whole client ends
      if (this.client.status !== 'ready') return;
      this.parts.readCredentials().then((credentials) => (this.#credentials = credentials), this.#failed);
    });
  };

  readonly #failed = (error: unknown): void => {
    if (!says(error, CONNECTION_LOST)) this.#error = error;
  };
}
