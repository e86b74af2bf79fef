import { setTimeout as delay } from 'node:timers/promises';
import { SCRIPTS } from '../../../libs/singleton-job/src/lock/scripts.js';
import { RedisServer } from '../../redis/index.js';
import { type Fault, happened, NothingHappened } from '../fault.js';
import { monotonicMs } from '../monotonic.js';
import { redisCall } from '../redis-call.js';
import { GRACEFUL, LEASE, PATIENCE_MS } from '../settings.js';

export const SCRIPTS_FLUSHED: Fault = {
  name: 'SCRIPT FLUSH',
  bound: GRACEFUL,
  strike: async ({ fleet }) => {
    const { port } = fleet.redis;
    const shas = SCRIPTS.filter(({ name }) => name === 'renew' || name === 'claim').map(({ sha }) => sha);
    const known = async (): Promise<string> => String(await redisCall(port, 'SCRIPT', 'EXISTS', ...shas));
    happened('the scripts were known', (await known()) === '1,1');
    await redisCall(port, 'SCRIPT', 'FLUSH', 'SYNC');
    await eventually('replicas send them again', async () => (await known()) === '1,1');
  },
};

export const CLIENTS_KILLED: Fault = {
  name: 'CLIENT KILL of all connections',
  bound: LEASE,
  side: 'redis',
  strike: async ({ fleet, chance }) => {
    const types = chance.pick<readonly string[]>([['normal'], ['pubsub'], ['normal', 'pubsub']]);
    for (const type of types) {
      const killed = await redisCall(fleet.redis.port, 'CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
      happened(`connections were killed: ${type}`, Number(killed) > 0);
    }
  },
};

/** A standby takes over without the last writes of the primary, as asynchronous replication does. */
export const PROMOTED: Fault = {
  name: 'replica promoted without the last writes',
  bound: LEASE,
  strike: async ({ fleet, chance }) => {
    const primary = fleet.redis;
    const standby = await RedisServer.start();
    fleet.redis = standby;
    try {
      await redisCall(standby.port, 'REPLICAOF', '127.0.0.1', String(primary.port));
      await eventually('the standby follows', async () => (await replication(standby)).includes('link_status:up'));
      const sinceMs = monotonicMs();
      await redisCall(standby.port, 'REPLICAOF', 'NO', 'ONE');
      const offsetBefore = await offset(primary);
      await eventually('there are writes to lose', async () => (await offset(primary)) > offsetBefore);
      await delay(chance.between(0, 500));
      // for the replicas it happens at once: what they hear from now on the standby says
      fleet.witness.note('forgot', '', { kind: 'fall-back', sinceMs });
      for (const { proxy } of fleet.slots) {
        proxy.redisPort = standby.port;
        proxy.reset();
      }
    } finally {
      await primary.stop();
    }
  },
};

async function offset(server: RedisServer): Promise<number> {
  return Number(/master_repl_offset:(\d+)/.exec(await replication(server))?.[1]);
}

async function replication({ port }: RedisServer): Promise<string> {
  return String(await redisCall(port, 'INFO', 'replication'));
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new NothingHappened(what);
    await delay(20);
  }
}
