import { Redis } from 'ioredis';
import { RedisStore, type RedisStoreOptions } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { RedisServer, type RedisServerOptions } from '../../tools/servers/redis-server.js';
import { isListening, open, type OpenStore } from './open-store.js';

/** A store that has begun to connect. */
export const openStore = (options: RedisStoreOptions) => open(new RedisStore(options));

/** A Redis server for one spec, stores on it, and a client to look at it from outside. All end together. */
export class RedisFixture {
  readonly raw: Redis;
  readonly #stores: RedisStore[] = [];

  private constructor(readonly server: RedisServer) {
    this.raw = new Redis(server.url, { retryStrategy: () => 50, disconnectTimeout: 100 });
    this.raw.on('error', () => undefined);
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisFixture> {
    return new RedisFixture(await RedisServer.start(options));
  }

  newStore(options: Partial<RedisStoreOptions> = {}): RedisStore {
    return new RedisStore({ projectName: 'myapp', connection: this.server.url, ...options });
  }

  /** A store that has begun to connect. */
  begin(options: Partial<RedisStoreOptions> = {}): OpenStore<RedisStore> {
    const opened = openStore({ projectName: 'myapp', connection: this.server.url, ...options });
    this.#stores.push(opened.store);
    return opened;
  }

  /** A store that is connected and listens. */
  async connect(options: Partial<RedisStoreOptions> = {}): Promise<OpenStore<RedisStore>> {
    const opened = this.begin(options);
    await isListening(opened);
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
