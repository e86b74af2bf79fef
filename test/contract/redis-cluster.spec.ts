import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { describeLockStore } from 'nestjs-singleton-job/testing';
import { RedisLockStore, type RedisConnection } from '../../libs/singleton-job/src/store/index.js';
import { freePort } from '../../tools/redis/free-port.js';
import { RedisServer } from '../../tools/redis/index.js';
import { bidOf, eventually, granted } from './lock-store-world.js';

let nodes: Awaited<ReturnType<typeof startNode>>[] = [];

beforeAll(async () => {
  nodes = await Promise.all([startNode(), startNode()]);
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('no cluster');
  await first.raw.call('CLUSTER', 'ADDSLOTSRANGE', 0, 8_191);
  await second.raw.call('CLUSTER', 'ADDSLOTSRANGE', 8_192, 16_383);
  await first.raw.call('CLUSTER', 'MEET', '127.0.0.1', second.server.port, second.busPort);
  for (const { raw } of nodes) {
    await eventually('the cluster is up', async () => {
      const info = String(await raw.call('CLUSTER', 'INFO'));
      return (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2')) || undefined;
    });
  }
});

afterAll(async () => {
  for (const { server, raw } of nodes) {
    raw.disconnect();
    await server.stop();
  }
});

async function startNode() {
  const busPort = await freePort();
  const server = await RedisServer.start({ args: ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)] });
  return { server, busPort, raw: new Redis(server.url) };
}

const addresses = () => nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port }));
let project = 0;

async function connect(connection: RedisConnection, projectName: string): Promise<RedisLockStore> {
  const store = new RedisLockStore({ projectName, connection });
  let isReachable = false;
  store.listen({ reachable: () => (isReachable = true) });
  store.open();
  await eventually('the store is connected', () => (isReachable && store.hearsReleases) || undefined);
  return store;
}

describeLockStore(
  { describe, it },
  {
    name: 'the Redis lock store on a cluster',
    makeWorld: async () => {
      const projectName = `p${String(project++)}`;
      const [store, other] = await Promise.all([
        connect({ nodes: addresses() }, projectName),
        connect({ nodes: addresses().slice(0, 1) }, projectName),
      ]);
      const cluster = new Cluster(addresses());
      return {
        store,
        other,
        countsPartOfReceivers: true,
        occupy: async (name, holder, ttlMs) => {
          const key = `${projectName}:${name}:lock`;
          await (ttlMs === undefined ? cluster.set(key, holder) : cluster.set(key, holder, 'PX', ttlMs));
        },
        loseData: async () => {
          for (const { raw } of nodes) await raw.flushall();
        },
        passTime: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        end: async () => {
          await Promise.all([store.close(), other.close()]);
          cluster.disconnect();
        },
      };
    },
  },
);

describe('a cluster', () => {
  it('has lock and state of every job in one slot', async () => {
    const slotOf = async (key: string) => Number(await nodes[0]?.raw.call('CLUSTER', 'KEYSLOT', key));
    for (const lock of ['myapp:price-tick:lock', 'myapp:Prices.tick:lock', 'my-app:lock/eu%2F1:lock']) {
      expect(await slotOf(`{${lock}}:state`)).toBe(await slotOf(lock));
    }
  });
});

describe('a connection may be given as', () => {
  const forms: [string, () => { source: RedisConnection; end?: () => void }][] = [
    ['the nodes of a cluster', () => ({ source: { nodes: addresses(), options: { scaleReads: 'all' } } })],
    [
      'a client of a cluster, which goes on by itself',
      () => {
        const client = new Cluster(addresses(), { lazyConnect: true, enableOfflineQueue: true });
        return {
          source: client,
          end: () => {
            client.disconnect();
          },
        };
      },
    ],
  ];

  it.each(forms)('%s', async (_form, make) => {
    const { source, end } = make();
    const store = await connect(source, `p${String(project++)}`);
    const names = Array.from({ length: 20 }, (_, n) => `job-${String(n)}`);
    for (const name of names) await granted(store, bidOf('a#1', { name }));
    await store.close();
    if (source instanceof Cluster) {
      expect(source.status).toBe('wait');
      expect(await source.ping()).toBe('PONG');
    }
    end?.();
  });
});
