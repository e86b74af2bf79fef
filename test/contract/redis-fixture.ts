import { Redis } from 'ioredis';
import { type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import {
  RedisLockStore,
  type RedisLockStoreOptions,
} from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import { eventually } from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { RedisServer, type RedisServerOptions } from '../../tools/replicas/redis/index.js';

/** A store that talks to Redis, and what it reported. */
export interface OpenStore {
  readonly store: RedisLockStore;
  readonly events: string[];
  readonly disconnected: LockStoreError[];
  readonly messagesDenied: LockStoreError[];
  /** Their codes. */
  readonly warnings: string[];
}

/** A Redis server for one spec, stores on it, and a client to look at it from outside. All end together. */
export class RedisFixture {
  readonly server: RedisServer;
  readonly raw: Redis;
  readonly #stores: RedisLockStore[] = [];

  private constructor(server: RedisServer) {
    this.server = server;
    this.raw = new Redis(server.url, { retryStrategy: () => 50, disconnectTimeout: 100 });
    this.raw.on('error', () => {});
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisFixture> {
    return new RedisFixture(await RedisServer.start(options));
  }

  /** A store that has begun to connect. */
  begin(options: Partial<RedisLockStoreOptions> = {}): OpenStore {
    const store = new RedisLockStore({ projectName: 'myapp', connection: this.server.url, ...options });
    this.#stores.push(store);
    const opened: OpenStore = { store, events: [], disconnected: [], messagesDenied: [], warnings: [] };
    const note = (event: string) => () => opened.events.push(event);
    store.addListener({
      connected: note('connected'),
      disconnected: (error) => {
        opened.events.push('disconnected');
        opened.disconnected.push(error);
      },
      subscribed: note('subscribed'),
      unsubscribed: note('unsubscribed'),
      warning: ({ code }) => opened.warnings.push(code),
      messagesDenied: (error) => opened.messagesDenied.push(error),
    });
    store.open();
    return opened;
  }

  /** A store that is connected and subscribed. */
  async connect(options: Partial<RedisLockStoreOptions> = {}): Promise<OpenStore> {
    const opened = this.begin(options);
    await this.isConnected(opened);
    return opened;
  }

  async isConnected({ events }: OpenStore): Promise<void> {
    const isMet = () => (events.includes('connected') && events.includes('subscribed')) || undefined;
    await eventually('the store is connected and subscribed', isMet);
  }

  /** The connections of the stores, by the server's own list. */
  async connections(): Promise<{ readonly id: string; readonly isSubscriber: boolean }[]> {
    const own = String(await this.raw.client('ID'));
    const list = String(await this.raw.client('LIST'));
    return list
      .trim()
      .split('\n')
      .map((line) => ({ id: /\bid=(\d+)/.exec(line)?.[1] ?? '', isSubscriber: !/\bsub=0\b/.test(line) }))
      .filter(({ id }) => id !== own);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    this.raw.disconnect();
    await this.server.stop();
  }
}
