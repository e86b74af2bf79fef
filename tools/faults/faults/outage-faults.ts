import { type Fault, type Field, happened, hindering, outliveLease } from '../fault.js';
import { redisCall } from '../redis-call.js';
import { BACK, LEASE, LOCK_EXPIRY_MS } from '../settings.js';

/** Every replica must have noticed, or the outage was none. */
async function noticed(field: Field, outage: () => Promise<void>): Promise<void> {
  const before = field.fleet.witness.record.length;
  await hindering(field, outage);
  const told = field.fleet.witness.record.slice(before).filter(({ event }) => event === 'storeUnreachable');
  happened('replicas noticed the outage', told.length > 0);
}

export const HUNG: Fault = {
  name: 'Redis hangs (SIGSTOP)',
  bound: BACK,
  side: 'redis',
  strike: async (field) => {
    const { redis } = field.fleet;
    await noticed(field, async () => {
      await redis.pause();
      await outliveLease(field);
      await redis.resume();
      field.since();
    });
  },
};

export const RESTARTED: Fault = {
  name: 'Redis down, back with its data',
  bound: BACK,
  side: 'redis',
  strike: async (field) => {
    const { redis } = field.fleet;
    await noticed(field, async () => {
      await redis.down();
      await outliveLease(field);
      await redis.up();
      field.since();
    });
  },
};

export const RESTARTED_EMPTY: Fault = {
  name: 'Redis down, back empty',
  bound: LEASE,
  side: 'redis',
  strike: async (field) => {
    const { redis } = field.fleet;
    await noticed(field, async () => {
      await redis.down({ keepData: false });
      field.fleet.witness.note('forgot', '', { kind: 'data-loss' });
      await outliveLease(field);
      await redis.up();
      field.since();
    });
  },
};

export const PAUSED: Fault = {
  name: 'CLIENT PAUSE',
  bound: BACK,
  side: 'redis',
  strike: async (field) => {
    const { fleet, chance } = field;
    const forMs = Math.round(chance.between(1.25, 2) * LOCK_EXPIRY_MS);
    await noticed(field, async () => {
      await redisCall(fleet.redis.port, 'CLIENT', 'PAUSE', String(forMs), 'ALL');
      // answered when it is over
      await redisCall(fleet.redis.port, 'PING');
      field.since();
    });
  },
};
