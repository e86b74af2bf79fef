import { Redis } from 'ioredis';
import { until } from '../../tools/replicas/until.js';
import { RedisServer } from '../../tools/servers/redis-server.js';

const SLOTS = 16_384;

interface ClusterNode {
  readonly server: RedisServer;
  readonly admin: Redis;
}

/** Two primaries with half of the slots each. */
export class RedisCluster implements AsyncDisposable {
  private constructor(readonly nodes: readonly [ClusterNode, ClusterNode]) {}

  static async start(): Promise<RedisCluster> {
    const cluster = new RedisCluster([await startNode(), await startNode()]);
    const [first, second] = cluster.nodes;
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
    // Redis 6.2 takes no ranges
    await first.admin.cluster('ADDSLOTS', ...slots.slice(0, SLOTS / 2));
    await second.admin.cluster('ADDSLOTS', ...slots.slice(SLOTS / 2));
    await first.admin.cluster('MEET', '127.0.0.1', second.server.port);
    for (const { admin } of cluster.nodes) await isUp(admin);
    return cluster;
  }

  get addresses(): { host: string; port: number }[] {
    return this.nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port }));
  }

  /** The node that has a key, and the other one. */
  async ownerOf(key: string): Promise<readonly [ClusterNode, ClusterNode]> {
    const [first, second] = this.nodes;
    const slot = Number(await first.admin.call('CLUSTER', 'KEYSLOT', key));
    const ranges = await first.admin.cluster('SLOTS');
    const owner = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
    return owner === first.server.port ? [first, second] : [second, first];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { admin, server } of this.nodes) {
      admin.disconnect();
      await server.stop();
    }
  }
}

async function startNode(): Promise<ClusterNode> {
  const server = await RedisServer.start({ args: ['--cluster-enabled', 'yes'] });
  return { server, admin: new Redis(server.url) };
}

async function isUp(admin: Redis): Promise<void> {
  await until('the cluster is up', async () => {
    const info = String(await admin.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2');
  });
}
