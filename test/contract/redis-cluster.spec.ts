import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Cluster, type ClusterOptions } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { RedisStore, type RedisStoreOptions } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { A, B, until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { oneForAll } from '../support/use-redis.js';
import { openStore } from './redis-fixture.js';
import { closeOpened, isListening, type OpenStore, saying } from './reporting-store.js';

const VERSIONS: [string, typeof Cluster][] = [
  ['ioredis 6', Cluster],
  ['ioredis 5', Cluster5 as unknown as typeof Cluster],
];
const NAMES = ['a:job', 'b:job', 'c:job', 'absent:job'];

const cluster = oneForAll(() => RedisCluster.start());
let projects = 0;

afterEach(closeOpened);

const nextProject = (): string => `p${String(projects++)}`;

async function connect(
  connection: RedisConnectionOptions,
  options: Partial<RedisStoreOptions> = {},
): Promise<OpenStore> {
  const one = openStore({ projectName: nextProject(), connection, ...options });
  await isListening(one);
  return one;
}

/** The same commands on each node. */
async function everywhere(...command: [string, ...string[]]): Promise<void> {
  for (const { admin } of cluster().nodes) await admin.call(...command);
}

describeStore(
  { describe, it },
  {
    name: 'the Redis store on a cluster',
    makeFixture: () => {
      const [projectName, other] = [nextProject(), nextProject()];
      const newStore = (name: string) =>
        new RedisStore({ projectName: name, connection: { nodes: cluster().addresses } });
      return {
        newStore: () => newStore(projectName),
        newStoreOfOtherProject: () => newStore(other),
        corrupt: async (name) => {
          const [{ admin }] = await cluster().ownerOf(`{${projectName}}:leases`);
          await admin.lpush(`{${projectName}}:${name}`, 'of another program');
        },
        loseData: () => everywhere('FLUSHALL'),
      };
    },
  },
);

describe.each(VERSIONS)('a cluster, with %s,', (_, Client) => {
  const client = (options: ClusterOptions = {}) => new Client(cluster().addresses, { lazyConnect: true, ...options });

  it('has all keys of a project in one slot', async () => {
    const { replica } = await connect(client(), { projectName: 'my-app' });
    await replica.sync({ grant: [A] });
    await replica.writeAll(NAMES.map((name) => ({ name })));
    const [{ admin }] = await cluster().ownerOf('{my-app}:leases');
    expect((await admin.keys('*my-app*')).sort()).toEqual(
      [...NAMES, 'leases'].map((name) => `{my-app}:${name}`).sort(),
    );
  });

  it('answers heartbeats in each phase while a slot is moved, and writes before and after', async () => {
    const projectName = nextProject();
    const { replica, events } = await connect(client(), { projectName });
    await replica.sync({ grant: [A] });
    const writes = NAMES.slice(0, 3).map((name) => ({ name, value: `"${name}"` }));
    const records = [...(await replica.writeAll(writes)), undefined];
    const keyOf = (name: string) => `{${projectName}}:${name}`;
    const [from, to] = await cluster().ownerOf(keyOf('leases'));
    const slot = String(await from.admin.call('CLUSTER', 'KEYSLOT', keyOf('leases')));
    const [fromId, toId] = [await from.admin.call('CLUSTER', 'MYID'), await to.admin.call('CLUSTER', 'MYID')].map(
      String,
    );
    await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId ?? '');
    await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId ?? '');
    for (const name of ['', 'a:job', 'b:job', 'c:job', 'leases']) {
      if (name !== '') await from.admin.call('MIGRATE', '127.0.0.1', to.server.port, keyOf(name), 0, 5_000);
      for (const read of [NAMES, NAMES.slice(0, 3), []]) {
        const result = await replica.sync({ renew: [A], read });
        expect([name, result.records, [...result.leases.keys()]]).toEqual([name, records.slice(0, read.length), [A]]);
      }
    }
    for (const { admin } of [to, from]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId ?? '');
    // another node is another server
    const { incarnation } = await replica.sync({ renew: [A], read: NAMES });
    expect(incarnation.id).toContain(/run_id:(\w+)/.exec(await to.admin.info('server'))?.[1]);
    for (const write of writes) expect((await replica.writeAll([write]))[0]).toBeUndefined();
    await replica.put('{}', undefined, { name: 'absent:job' });
    expect((await replica.read('absent:job'))[0]).toMatchObject({ value: '{}' });
    expect(events).not.toContain('disconnected');
  });

  it('is asked with the user, the password and the other options of the client', async () => {
    const rights =
      'reset resetchannels on >secret ~{acl}:* &{acl}:hints +@read +@write -@dangerous +@scripting +subscribe +publish +info +time';
    await everywhere('ACL', 'SETUSER', 'app', ...rights.split(' '));
    const redisOptions = { username: 'app', password: 'secret', connectionName: 'of-the-app' };
    const options = { projectName: 'acl', connection: client({ redisOptions }) };
    const denied = openStore(options);
    const message = /needs \+cluster\|slots and \+cluster\|info as well/;
    await expect(denied.replica.sync()).rejects.toThrow(message);
    await denied.store.close();
    await everywhere('ACL', 'SETUSER', 'app', '+cluster|slots', '+cluster|info', '+client|setname');
    const { replica, warnings } = await connect(options.connection, options);
    await replica.sync({ isNewcomer: true, grant: [A] });
    await replica.put();
    expect(warnings).toEqual([]);
    const [{ admin }] = await cluster().ownerOf('{acl}:leases');
    expect(String(await admin.client('LIST'))).toMatch(/name=of-the-app .*user=app/);
    await everywhere('FLUSHALL');
  });

  it('may get another password, which is read anew for each node that was lost, but not to close', async () => {
    let password = 'first';
    const setUser = () => everywhere('ACL', 'SETUSER', 'rotated', 'reset', 'on', `>${password}`, '~*', '&*', '+@all');
    const read = () => ({ nodes: cluster().addresses, options: { redisOptions: { username: 'rotated', password } } });
    await setUser();
    const original = client({ ...read().options, enableOfflineQueue: true, scaleReads: 'all' });
    const readConnection = jest.fn(() => Promise.resolve(read()));
    const one = await connect(original, { readConnection });
    const { replica } = one;
    await replica.sync({ grant: [A] });
    password = 'second';
    await setUser();
    one.events.splice(0, Infinity, 'connected');
    await everywhere('CLIENT', 'KILL', 'USER', 'rotated');
    await until('a heartbeat is answered', () => replica.sync({ renew: [A] }));
    await isListening(one);
    const { length } = readConnection.mock.calls;
    await one.store.close();
    // a socket reports its end in a later turn
    await new Promise((resolve) => setTimeout(resolve, 50));
    // the client of the application is not used itself
    expect([readConnection.mock.calls.length, original.status]).toEqual([length, 'wait']);
  });

  it('rejects while the node of the project hangs, and other projects go on', async () => {
    const here = nextProject();
    const [node] = await cluster().ownerOf(`{${here}}:leases`);
    let elsewhere = nextProject();
    while ((await cluster().ownerOf(`{${elsewhere}}:leases`))[0] === node) elsewhere = nextProject();
    const { replica } = await connect(client(), { projectName: here, minTtlMs: 800 });
    const { replica: other } = await connect(client(), { projectName: elsewhere, minTtlMs: 800 });
    await Promise.all([replica.sync({ grant: [A] }), other.sync({ grant: [B] })]);
    await node.server.pause();
    try {
      const silent = saying('STORE_UNREACHABLE', 'no answer within 160 ms');
      await expect(replica.sync({ renew: [A] })).rejects.toMatchObject(silent);
      expect(await other.leases({ renew: [B] })).toEqual([B]);
    } finally {
      await node.server.resume();
    }
    await until('a heartbeat is answered', () => replica.sync({ renew: [A] }));
  });
});
