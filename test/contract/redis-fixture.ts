import { Redis } from 'ioredis';
import { asLockStoreError, type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { RedisStore, type RedisStoreOptions } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { eventually } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { RedisServer, type RedisServerOptions } from '../../tools/servers/redis-server.js';

/** A store that talks to Redis, and what it reported. */
export interface OpenStore {
  readonly store: RedisStore;
  readonly events: string[];
  readonly disconnected: LockStoreError[];
  readonly warnings: { readonly code: string; readonly message: string }[];
}

/** A store that has begun to connect. */
export function openStore(options: RedisStoreOptions): OpenStore {
  const opened: OpenStore = { store: new RedisStore(options), events: [], disconnected: [], warnings: [] };
  opened.store.addListener({
    connected: () => opened.events.push('connected'),
    disconnected: (error) => {
      opened.events.push('disconnected');
      opened.disconnected.push(asLockStoreError(error));
    },
    listening: (isListening) => opened.events.push(isListening ? 'listening' : 'not listening'),
    warning: (warning) => opened.warnings.push(warning),
  });
  opened.store.open();
  return opened;
}

/** Resolves when the store is connected, and its last word is that it listens. */
export async function isListening({ events }: OpenStore): Promise<void> {
  const isMet = () => events.includes('connected') && events.findLast((event) => event.endsWith('listening'));
  await eventually('the store is connected and listens', () => isMet() === 'listening' || undefined);
}

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
  begin(options: Partial<RedisStoreOptions> = {}): OpenStore {
    const opened = openStore({ projectName: 'myapp', connection: this.server.url, ...options });
    this.#stores.push(opened.store);
    return opened;
  }

  /** A store that is connected and listens. */
  async connect(options: Partial<RedisStoreOptions> = {}): Promise<OpenStore> {
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
