import { Redis } from 'ioredis';
import { type RedisConnectionOptions } from '../../../libs/singleton-job/src/store/redis/redis-clients.js';
import { RedisServer } from '../../../tools/replicas/redis/index.js';
import { until } from '../../../tools/replicas/until.js';

/** How long a primary may be silent until its Sentinel considers it down. */
const DOWN_AFTER_MS = 1_000;

/** A primary, its replica, and a Sentinel that promotes the replica when the primary is gone. */
export class RedisSentinel implements AsyncDisposable {
  static readonly NAME = 'shop';

  private constructor(
    readonly primary: RedisServer,
    readonly replica: RedisServer,
    readonly sentinel: RedisServer,
    /** A client of the Sentinel. */
    readonly watch: Redis,
    private readonly toReplica: Redis,
  ) {}

  static async start(): Promise<RedisSentinel> {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
    const sentinel = await RedisServer.start({ sentinel: true });
    const [watch, toReplica] = [new Redis(sentinel.url), new Redis(replica.url)];
    const redis = new RedisSentinel(primary, replica, sentinel, watch, toReplica);
    await watch.call('SENTINEL', 'MONITOR', RedisSentinel.NAME, '127.0.0.1', primary.port, 1);
    for (const setting of ['down-after-milliseconds', 'failover-timeout']) {
      await watch.call('SENTINEL', 'SET', RedisSentinel.NAME, setting, DOWN_AFTER_MS);
    }
    await until('the Sentinel knows the replica', async () => {
      const replicas = await watch.call('SENTINEL', 'REPLICAS', RedisSentinel.NAME);
      return Array.isArray(replicas) && replicas.length === 1 && JSON.stringify(replicas).includes('"ok"');
    });
    return redis;
  }

  /** For replicas of the application. */
  get connection(): RedisConnectionOptions {
    return { sentinels: [{ host: '127.0.0.1', port: this.sentinel.port }], name: RedisSentinel.NAME };
  }

  /** Resolves once the replica follows the primary. */
  async caughtUp(): Promise<void> {
    await until('the replica follows', async () =>
      (await this.toReplica.info('replication')).includes('master_link_status:up'),
    );
  }

  async isPromoted(): Promise<boolean> {
    return (await this.toReplica.info('replication')).includes('role:master');
  }

  /** Which data the replica has, as noted among these leases. */
  incarnation(leases: string): Promise<string[]> {
    return this.toReplica.zrangebyscore(leases, '-inf', 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch.disconnect();
    this.toReplica.disconnect();
    for (const server of [this.sentinel, this.replica, this.primary]) await server.stop();
  }
}
