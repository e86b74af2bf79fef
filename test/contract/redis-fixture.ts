import { Redis } from 'ioredis';
import { type LockStoreError } from '../../libs/singleton-job/src/errors/index.js';
import { RedisLockStore, type RedisLockStoreOptions } from '../../libs/singleton-job/src/store/index.js';
import { RedisServer, type RedisServerOptions } from '../../tools/redis/index.js';
import { eventually } from './lock-store-world.js';

/** A store that talks to Redis, and what it told its listener. */
export interface OpenStore {
  readonly store: RedisLockStore;
  readonly told: string[];
  /** What Redis refused that locks can do without. */
  readonly refused: LockStoreError[];
}

/** A Redis of one's own, stores on it, and a client to look at it from outside. All end together. */
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
    const store = new RedisLockStore({
      projectName: 'myapp',
      connection: this.server.url,
      ...options,
    });
    this.#stores.push(store);
    const told: string[] = [];
    const refused: LockStoreError[] = [];
    store.listen({
      reachable: () => told.push('reachable'),
      hearing: () => told.push('hearing'),
      refused: (error) => refused.push(error),
    });
    store.open();
    return { store, told, refused };
  }

  /** A store that can be asked and hears releases. */
  async connect(options: Partial<RedisLockStoreOptions> = {}): Promise<OpenStore> {
    const opened = this.begin(options);
    await eventually(
      'the store is connected',
      () => (opened.told.length >= 2 && opened.store.hearsReleases) || undefined,
    );
    return opened;
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
