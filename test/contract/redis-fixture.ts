import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisStore, type RedisStoreOptions } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { RedisServer, type RedisServerOptions } from '../../tools/servers/redis-server.js';
import { open, ServerFixture } from './reporting-store.js';

export const VERSIONS: [string, typeof Redis][] = [
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
];

/** A store that has begun to connect. */
export const openStore = (options: RedisStoreOptions) => open(new RedisStore(options));

/** A Redis server, and a client to look at it from outside. */
export class RedisFixture extends ServerFixture<RedisStore, RedisStoreOptions> {
  readonly raw: Redis;

  private constructor(readonly server: RedisServer) {
    super();
    this.raw = new Redis(server.url, { retryStrategy: () => 50, disconnectTimeout: 100 });
    this.raw.on('error', () => undefined);
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisFixture> {
    return new RedisFixture(await RedisServer.start(options));
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

  protected override make(options: Partial<RedisStoreOptions>): RedisStore {
    return new RedisStore({ projectName: 'myapp', connection: this.server.url, ...options });
  }

  protected override stopServer(): Promise<void> {
    this.raw.disconnect();
    return this.server.stop();
  }
}
