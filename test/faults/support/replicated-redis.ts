import { type Redis } from 'ioredis';
import { until } from '../../../tools/replicas/until.js';
import { RedisServer, type RedisServerOptions } from '../../../tools/servers/redis-server.js';
import { adminOf, isFollowing } from './place.js';

const SLOTS = 16_384;
/** How long a primary may be silent until it is considered down. */
const SILENT_MS = 1_500;

interface Node {
  readonly server: RedisServer;
  readonly admin: Redis;
}

/** Servers of which one follows the primary, and takes over when that is gone. */
export interface ReplicatedRedis extends AsyncDisposable {
  readonly primary: RedisServer;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Lets the copy take over from a primary that still serves its clients for a while. */
  failOver(): Promise<unknown>;
  /** Whether the copy has taken over. */
  isPromoted(): Promise<boolean>;
}

/** A primary, its copy, and a Sentinel that watches them as `shop`. */
export async function startSentinel(): Promise<ReplicatedRedis> {
  const primary = await startNode();
  const { port } = primary.server;
  const copy = await startNode({ args: ['--replicaof', '127.0.0.1', String(port)] });
  const sentinel = await startNode({ sentinel: true });
  await until('the copy follows', async () => isFollowing(await copy.admin.info('replication')));
  await sentinel.admin.call('SENTINEL', 'MONITOR', 'shop', '127.0.0.1', port, 1);
  for (const setting of ['down-after-milliseconds', 'failover-timeout'])
    await sentinel.admin.call('SENTINEL', 'SET', 'shop', setting, SILENT_MS);
  await until('the Sentinel knows the copy', async () => {
    const copies = JSON.stringify(await sentinel.admin.call('SENTINEL', 'REPLICAS', 'shop'));
    return copies.includes('"master-link-status","ok"');
  });
  return replicated([primary, copy, sentinel], [sentinel], () => sentinel.admin.call('SENTINEL', 'FAILOVER', 'shop'));
}

/** A cluster of three primaries, the first with a copy. Only the first one has slots that are used. */
export async function startReplicatedCluster(): Promise<ReplicatedRedis> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(SILENT_MS)];
  const start = () => startNode({ args: [...args, '--repl-diskless-sync-delay', '0'] });
  const [primary, copy, ...voters] = await Promise.all([start(), start(), start(), start()]);
  const nodes = [primary, copy, ...voters];
  const all = (what: string, line: string): Promise<unknown> =>
    until(`each node ${what}`, async () => {
      const infos = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'INFO')));
      return infos.every((info) => String(info).includes(line));
    });
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
  await primary.admin.cluster('ADDSLOTS', ...slots.slice(2));
  for (const [slot, { admin }] of voters.entries()) await admin.cluster('ADDSLOTS', slot);
  for (const { server } of [copy, ...voters]) await primary.admin.cluster('MEET', '127.0.0.1', server.port);
  await all('knows all nodes', 'cluster_known_nodes:4');
  await copy.admin.call('CLUSTER', 'REPLICATE', String(await primary.admin.call('CLUSTER', 'MYID')));
  await all('is up', 'cluster_state:ok');
  await until('the copy follows', async () => isFollowing(await copy.admin.info('replication')));
  const redis = replicated([primary, copy, ...voters], nodes, async () => {
    let orderAtMs = 0;
    await until('the copy takes over', async () => {
      if (await redis.isPromoted()) return true;
      if (performance.now() < orderAtMs) return false;
      // Redis gives up an order that is not carried out in 5 s
      orderAtMs = performance.now() + 6_000;
      await copy.admin.call('CLUSTER', 'FAILOVER');
      return false;
    });
  });
  return redis;
}

function replicated(
  nodes: readonly [primary: Node, copy: Node, ...Node[]],
  known: readonly Node[],
  failOver: () => Promise<unknown>,
): ReplicatedRedis {
  const [primary, copy] = nodes;
  return {
    primary: primary.server,
    addresses: known.map(({ server }) => ({ host: '127.0.0.1', port: server.port })),
    failOver,
    isPromoted: async () => (await copy.admin.info('replication')).includes('role:master'),
    [Symbol.asyncDispose]: async () => {
      for (const { admin, server } of nodes) {
        admin.disconnect();
        await server.stop();
      }
    },
  };
}

async function startNode(options: RedisServerOptions = {}): Promise<Node> {
  const server = await RedisServer.start(options);
  return { server, admin: adminOf(server) };
}
