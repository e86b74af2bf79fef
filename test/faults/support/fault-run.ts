import { Redis } from 'ioredis';
import { RedisServer, type RedisServerOptions } from '../../../tools/replicas/redis/index.js';
import { ReplicaPair, type PairOptions } from './replica-pair.js';
import { TcpProxy } from '../../../tools/replicas/tcp-proxy.js';

/** A Redis, two replicas with a separate network each, and a client that observes. */
export class FaultRun implements AsyncDisposable {
  private constructor(
    readonly server: RedisServer,
    /** See {@link adminClient}. */
    readonly admin: Redis,
    /** The network of the leader and that of the follower. */
    readonly proxies: readonly [TcpProxy, TcpProxy],
    readonly pair: ReplicaPair,
  ) {}

  static async start(redis: RedisServerOptions = {}, options: PairOptions = {}): Promise<FaultRun> {
    const server = await RedisServer.start(redis);
    const { admin } = adminClient(server);
    const proxies = [await TcpProxy.start(server.port), await TcpProxy.start(server.port)] as const;
    try {
      const pair = await ReplicaPair.start([proxies[0].url, proxies[1].url], options);
      return new FaultRun(server, admin, proxies, pair);
    } catch (error: unknown) {
      await end(server, admin, proxies);
      throw error;
    }
  }

  /** Makes the follower look at once, as after the message of a release. */
  async wakeFollower(): Promise<void> {
    await this.admin.publish(`{${this.pair.project}}:hints`, '*');
  }

  /** Does the same to both networks. */
  everywhere(step: 'freeze' | 'thaw' | 'reset' | 'refuse' | 'accept'): Promise<void> {
    for (const proxy of this.proxies) proxy[step]();
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pair[Symbol.asyncDispose]();
    await end(this.server, this.admin, this.proxies);
  }
}

/** A client that no replica knows of. It waits for the server without a limit, and repeats requests without an answer. */
export function adminClient(server: RedisServer): Disposable & { readonly admin: Redis } {
  const admin = new Redis(server.url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    disconnectTimeout: 100,
  });
  admin.on('error', () => undefined);
  return {
    admin,
    [Symbol.dispose]: () => {
      admin.disconnect();
    },
  };
}

async function end(server: RedisServer, admin: Redis, proxies: readonly TcpProxy[]): Promise<void> {
  admin.disconnect();
  await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
  await server.stop();
}
