import { JOBS } from '../../../test/faults/replica/order.js';
import { type RedisServer } from '../../redis/index.js';
import { type Fault, type Field, happened, hindering } from '../fault.js';
import { PROJECT } from '../fleet.js';
import { redisCall } from '../redis-call.js';
import { LEASE } from '../settings.js';

/** Whoever leads finds out at its next renewal, and somebody takes the lock anew. */
async function takenAnew({ fleet }: Field, jobs: readonly string[], strike: () => Promise<unknown>): Promise<void> {
  const before = fleet.witness.record.length;
  await strike();
  const gained = (job: string): boolean =>
    fleet.witness.record.slice(before).some((testimony) => testimony.event === 'gained' && testimony.job === job);
  await fleet.until('the locks are taken anew', () => jobs.every(gained));
}

/** Back before anybody's lease is over: old leaders still trust theirs. */
export const CRASHED_EMPTY: Fault = {
  name: 'Redis crashes, at once back empty',
  bound: LEASE,
  side: 'redis',
  strike: (field) =>
    takenAnew(field, JOBS, async () => {
      const { redis, witness } = field.fleet;
      happened('there was something to lose', (await keys(redis)) > 0);
      await hindering(field, async () => {
        await redis.kill();
        witness.note('forgot', '', { kind: 'data-loss' });
        await redis.up();
      });
      field.since();
    }),
};

export const FLUSHED: Fault = {
  name: 'FLUSHALL',
  bound: LEASE,
  side: 'redis',
  strike: (field) =>
    takenAnew(field, JOBS, async () => {
      const { redis, witness } = field.fleet;
      happened('there was something to lose', (await keys(redis)) > 0);
      // before it is sent: whatever comes of it comes after
      witness.note('forgot', '', { kind: 'data-loss' });
      await redisCall(redis.port, 'FLUSHALL');
    }),
};

export const DELETED: Fault = {
  name: 'DEL of a held lock',
  bound: LEASE,
  side: 'redis',
  strike: async (field) => {
    const job = field.chance.pick(['grid', 'cron', 'obedient']);
    await takenAnew(field, [job], async () => {
      const { redis, witness } = field.fleet;
      witness.note('forgot', '', { kind: 'lock-deleted', job });
      const deleted = await redisCall(redis.port, 'DEL', `${PROJECT}:${job}:lock`);
      happened('there was a lock to delete', deleted === 1);
    });
  },
};

async function keys({ port }: RedisServer): Promise<number> {
  return Number(await redisCall(port, 'DBSIZE'));
}
