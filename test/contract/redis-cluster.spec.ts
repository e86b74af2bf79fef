import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster } from 'ioredis';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { RedisLockStore } from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/describe-lock-store.js';
import {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  kept,
  LONG_MS,
  refused,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { RedisCluster } from '../../tools/replicas/redis/redis-cluster.js';

let cluster: RedisCluster;
let projects = 0;

beforeAll(async () => {
  cluster = await RedisCluster.start();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

const nextProject = (): string => `p${String(projects++)}`;

async function connect(connection: RedisConnectionOptions, projectName: string) {
  const store = new RedisLockStore({ projectName, connection });
  const events: string[] = [];
  for (const event of ['connected', 'disconnected', 'subscribed'] as const) {
    store.addListener({ [event]: () => events.push(event) });
  }
  store.open();
  const isMet = () => (events.includes('connected') && events.includes('subscribed')) || undefined;
  await eventually('the store is connected and subscribed', isMet);
  return { store, events };
}

describeLockStore(
  { describe, it },
  {
    name: 'the Redis lock store on a cluster',
    leaveOut: ['a restart', 'a clock that is set back', 'an outdated heartbeat'],
    makeFixture: async () => {
      const projectName = nextProject();
      const [{ store }, { store: other }] = await Promise.all([
        connect({ nodes: cluster.addresses }, projectName),
        connect({ nodes: cluster.addresses.slice(0, 1) }, projectName),
      ]);
      const raw = new Cluster(cluster.addresses);
      return {
        store,
        other,
        occupy: async (name, holder, ttlMs) => {
          const key = `${projectName}:${name}:lock`;
          await (ttlMs === undefined ? raw.set(key, holder) : raw.set(key, holder, 'PX', ttlMs));
        },
        loseData: async () => {
          for (const { admin } of cluster.nodes) await admin.flushall();
        },
        loseSessions: async () => {
          await raw.del(`{${projectName}:sessions}`);
        },
        loseState: async (name) => {
          await raw.del(`{${projectName}:${name}:lock}:state`);
        },
        passTime: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        end: async () => {
          await Promise.all([store.close(), other.close()]);
          raw.disconnect();
        },
      };
    },
  },
);

describe('a cluster', () => {
  const stores: RedisLockStore[] = [];

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  /** A store whose sessions are on one node and whose lock is on the other. */
  const connectApart = async () => {
    for (;;) {
      const projectName = nextProject();
      const [lockNode] = await cluster.ownerOf(`${projectName}:price-tick:lock`);
      const [sessionNode] = await cluster.ownerOf(`{${projectName}:sessions}`);
      if (lockNode === sessionNode) continue;
      const opened = await connect({ nodes: cluster.addresses }, projectName);
      stores.push(opened.store);
      return { ...opened, projectName, lockNode, sessionNode };
    }
  };

  it('has the keys of the sessions in one slot, and lock and state of each job in one', async () => {
    const slotOf = async (key: string) => Number(await cluster.nodes[0].admin.call('CLUSTER', 'KEYSLOT', key));
    for (const key of ['{myapp:sessions}:server', '{myapp:sessions}:changes']) {
      expect(await slotOf(key)).toBe(await slotOf('{myapp:sessions}'));
    }
    for (const lock of ['myapp:price-tick:lock', 'myapp:Prices.tick:lock', 'my-app:lock/eu%2F1:lock']) {
      expect(await slotOf(`{${lock}}:state`)).toBe(await slotOf(lock));
    }
  });

  it('lets a replica take over a lock from a session that ended on another node', async () => {
    const { store, projectName, lockNode, sessionNode } = await connectApart();
    const [dead, alive] = [sessionOfReplica('a', { lockExpiryMs: 40 }), sessionOfReplica('b')];
    const before = await heartbeat(store, [dead]);
    const first = await granted(store, acquireRequest(`${dead.id}#1`, { heartbeat: before }));
    expect(await lockNode.admin.get(`${projectName}:price-tick:lock`)).toBe('a.1@40#1');
    expect(await sessionNode.admin.exists(`{${projectName}:sessions}`)).toBe(1);

    const after = await eventually('the session has ended', async () => {
      const result = await heartbeat(store, [alive]);
      return result.changes.get(dead.id)?.hasEnded === true ? result : undefined;
    });
    expect(await refused(store, acquireRequest(`${alive.id}#1`, { heartbeat: after }))).toMatchObject({
      reason: 'held',
    });
    const takeover = acquireRequest(`${alive.id}#2`, { heartbeat: after, endedSession: dead.id });
    expect((await granted(store, takeover)).token).toBeGreaterThan(first.token);
    expect(
      await store.renew({ name: 'price-tick', holder: `${dead.id}#1`, lifeMs: LONG_MS, update: {} }),
    ).toMatchObject({
      held: false,
      holder: 'b.1@600000#2',
    });
  });

  it('accepts heartbeats of the heartbeat thread, which has a copy of the options', async () => {
    const projectName = nextProject();
    const connection = structuredClone({ nodes: cluster.addresses, options: { slotsRefreshTimeout: 5_000 } });
    const store = new RedisLockStore({ projectName, connection, subscribes: false });
    stores.push(store);
    store.open();
    const { sessions } = await heartbeat(store, [sessionOfReplica('a')]);
    expect(sessions).toMatchObject([{ status: 'extended' }]);
    expect(store.isSubscribed).toBe(false);
  });

  it('refuses a request as outdated when another node answers for the lock', async () => {
    const { store, projectName } = await connectApart();
    const reference = await heartbeat(store, [sessionOfReplica('a')]);
    const request = acquireRequest('a.1@600000#1', { heartbeat: reference });
    const { token, serverId } = await granted(store, request);
    expect(serverId).toBeDefined();
    const again = { ...request, knownServerId: serverId };
    await granted(store, again);
    await cluster.move(`${projectName}:price-tick:lock`);
    const refusal = await refused(store, again);
    expect(refusal).toMatchObject({ reason: 'outdated', holder: 'a.1@600000#1', token });
    expect(refusal.serverId).not.toBe(serverId);
    expect(await granted(store, { ...request, knownServerId: refusal.serverId })).toMatchObject({ token });
  });

  it('keeps its connection and refreshes the slots when a node is no primary', async () => {
    const { store, events } = await connectApart();
    const refresh = jest.spyOn(Cluster.prototype, 'refreshSlotsCache');
    const demoted = new Error("READONLY You can't write against a read only replica.");
    const send = jest.spyOn(Cluster.prototype, 'evalsha').mockRejectedValueOnce(demoted);
    await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_UNREACHABLE', wasSent: true });
    expect(refresh).toHaveBeenCalled();
    send.mockRestore();
    refresh.mockRestore();
    await heartbeat(store, []);
    expect(events).not.toContain('disconnected');
  });

  it('keeps the sessions while the node of a lock hangs', async () => {
    const { store, events, lockNode } = await connectApart();
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await lockNode.server.pause();
    try {
      const waiting = store.acquire(acquireRequest('a.1@600000#1'));
      waiting.catch(() => undefined);
      expect(await kept(store, { ...session, confirmedEnd: end })).toMatchObject({ status: 'extended' });
      await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
      expect(await kept(store, { ...session, confirmedEnd: end })).toMatchObject({ status: 'extended' });
    } finally {
      await lockNode.server.resume();
    }
    await eventually('the node answers again', () => store.acquire(acquireRequest('a#1')).catch(() => undefined));
    expect(events).not.toContain('disconnected');
  });
});

describe('an ACL user of a cluster', () => {
  const RIGHTS = '~acl:* ~{acl:* &acl:events +@read +@write -@dangerous +@scripting +subscribe +publish +info +time';
  const connectAs = async (...rights: string[]) => {
    for (const { admin } of cluster.nodes) {
      await admin.call(
        'ACL',
        'SETUSER',
        'app',
        'reset',
        'resetchannels',
        'on',
        '>secret',
        ...RIGHTS.split(' '),
        ...rights,
      );
    }
    const redisOptions = { username: 'app', password: 'secret' };
    return { nodes: cluster.addresses, options: { redisOptions } };
  };

  it('also needs +cluster|slots and +cluster|info', async () => {
    const { store } = await connect(await connectAs('+cluster|slots', '+cluster|info'), 'acl');
    for (const name of ['ant', 'bee', 'cat', 'dog']) await granted(store, acquireRequest('a#1', { name }));
    await store.close();
  });

  it('without them gets an error that names them', async () => {
    const store = new RedisLockStore({ projectName: 'acl', connection: await connectAs() });
    store.open();
    await expect(store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({
      message: expect.stringContaining('needs +cluster|slots and +cluster|info as well'),
    });
    await store.close();
  });
});

describe('a password of a cluster that changes', () => {
  it('is read anew when a node refuses the old one', async () => {
    let password = 'first';
    const setUser = async () => {
      const rights = `reset on >${password} ~* &* +@all`.split(' ');
      for (const { admin } of cluster.nodes) await admin.call('ACL', 'SETUSER', 'rotated', ...rights);
    };
    const read = () => ({ nodes: cluster.addresses, options: { redisOptions: { username: 'rotated', password } } });
    await setUser();
    const store = new RedisLockStore({
      projectName: nextProject(),
      connection: read(),
      readConnection: () => Promise.resolve(read()),
    });
    store.open();
    try {
      await eventually('the store is subscribed', () => store.isSubscribed || undefined);
      await granted(store, acquireRequest('a#1'));
      password = 'second';
      await setUser();
      for (const { admin } of cluster.nodes) await admin.call('CLIENT', 'KILL', 'USER', 'rotated');
      await eventually('the store leads again', () => store.acquire(acquireRequest('a#1')).catch(() => undefined));
      await eventually('the store is subscribed again', () => store.isSubscribed || undefined);
    } finally {
      await store.close();
    }
  });
});

describe('a connection may be given as', () => {
  const forms: [string, () => { source: RedisConnectionOptions; end?: () => void }][] = [
    ['the nodes of a cluster', () => ({ source: { nodes: cluster.addresses, options: { scaleReads: 'all' } } })],
    [
      'a client of a cluster, which continues by itself',
      () => {
        const client = new Cluster(cluster.addresses, { lazyConnect: true, enableOfflineQueue: true });
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
    const { store } = await connect(source, nextProject());
    const names = Array.from({ length: 20 }, (_, n) => `job-${String(n)}`);
    for (const name of names) await granted(store, acquireRequest('a#1', { name }));
    await store.close();
    if (source instanceof Cluster) {
      expect(source.status).toBe('wait');
      expect(await source.ping()).toBe('PONG');
    }
    end?.();
  });
});
