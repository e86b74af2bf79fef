import { Redis } from 'ioredis';
import { RedisServer } from '../../../tools/replicas/redis/index.js';
import { until } from '../../../tools/replicas/until.js';

const SLOTS = 16_384;
const NODE_TIMEOUT_MS = 1_500;

interface Node {
  readonly server: RedisServer;
  readonly admin: Redis;
}

/** A cluster of three primaries, the first with a replica, which takes over when it is gone. Only the first one has slots that are used. */
export class ReplicatedCluster implements AsyncDisposable {
  private constructor(
    readonly primary: Node,
    private readonly replica: Node,
    private readonly voters: readonly Node[],
  ) {}

  static async start(): Promise<ReplicatedCluster> {
    const [primary, replica, ...voters] = await Promise.all([startNode(), startNode(), startNode(), startNode()]);
    const cluster = new ReplicatedCluster(primary, replica, voters);
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
    await primary.admin.cluster('ADDSLOTS', ...slots.slice(2));
    for (const [i, { admin }] of voters.entries()) await admin.cluster('ADDSLOTS', i);
    for (const { server } of [replica, ...voters]) await primary.admin.cluster('MEET', '127.0.0.1', server.port);
    await cluster.#each('knows all nodes', 'cluster_known_nodes:4');
    await replica.admin.call('CLUSTER', 'REPLICATE', String(await primary.admin.call('CLUSTER', 'MYID')));
    await cluster.#each('is up', 'cluster_state:ok');
    await until('the replica follows', async () =>
      (await replica.admin.info('replication')).includes('master_link_status:up'),
    );
    return cluster;
  }

  get addresses(): { host: string; port: number }[] {
    return [this.primary, this.replica, ...this.voters].map(({ server }) => ({ host: '127.0.0.1', port: server.port }));
  }

  /** Resolves when the replica has taken over. */
  async promoted(): Promise<void> {
    await until('the replica is promoted', async () =>
      (await this.replica.admin.info('replication')).includes('role:master'),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { admin, server } of [this.primary, this.replica, ...this.voters]) {
      admin.disconnect();
      await server.stop();
    }
  }

  async #each(what: string, line: string): Promise<void> {
    for (const { admin } of [this.primary, this.replica, ...this.voters]) {
      await until(`each node ${what}`, async () => String(await admin.call('CLUSTER', 'INFO')).includes(line));
    }
  }
}

async function startNode(): Promise<Node> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  const server = await RedisServer.start({ args: [...args, '--repl-diskless-sync-delay', '0'] });
  const admin = new Redis(server.url);
  admin.on('error', () => undefined);
  return { server, admin };
}
