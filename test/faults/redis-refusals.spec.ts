import { describe, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { ReplicaPair } from './support/replica-pair.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { adminClient } from './support/fault-run.js';

interface Refused {
  readonly admin: Redis;
  readonly pair: ReplicaPair;
}

interface Refusal {
  readonly name: string;
  readonly begin: (run: Refused) => unknown;
  readonly end: (run: Refused) => unknown;
  /** The text of its one log line. */
  readonly says: RegExp;
  /** The jobs that have no leader during the fault. @default all */
  readonly jobs?: readonly string[];
  /** Whether the replicas give neither a name nor a password. */
  readonly isAnonymous?: boolean;
}

const PERMITTED = ['on', '>secret', 'resetkeys', 'resetchannels', '~*', '&*', '+@all'];
const permit = (admin: Redis, ...rules: string[]): Promise<unknown> =>
  admin.call('ACL', 'SETUSER', 'jobs', 'reset', ...PERMITTED, ...rules);

const REFUSALS: readonly Refusal[] = [
  {
    name: 'requires a password',
    begin: async ({ admin }) => {
      await admin.config('SET', 'requirepass', 'secret');
      for (const type of ['normal', 'pubsub']) await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
    },
    end: ({ admin }) => admin.config('SET', 'requirepass', ''),
    says: /NOAUTH/,
    isAnonymous: true,
  },
  {
    name: 'requires another password',
    begin: async ({ admin }) => {
      await admin.call('ACL', 'SETUSER', 'jobs', 'resetpass', '>another');
      await admin.call('CLIENT', 'KILL', 'USER', 'jobs');
    },
    end: ({ admin }) => permit(admin),
    says: /WRONGPASS/,
  },
  {
    name: 'no longer permits scripts',
    begin: ({ admin }) => permit(admin, '-@scripting'),
    end: ({ admin }) => permit(admin),
    says: /NOPERM .*eval/,
  },
  {
    name: 'no longer permits the keys',
    begin: ({ admin }) => permit(admin, 'resetkeys', '~other:*'),
    end: ({ admin }) => permit(admin),
    says: /NOPERM/,
  },
  {
    name: 'has a key of another type in place of a record',
    begin: async ({ admin, pair }) => {
      await admin.multi().del(pair.record('heartbeat')).lpush(pair.record('heartbeat'), 'not a record').exec();
    },
    end: ({ admin, pair }) => admin.del(pair.record('heartbeat')),
    says: /:heartbeat\] cannot be led \(the record 'heartbeat:lock' in Redis cannot be read/,
    jobs: ['heartbeat'],
  },
  {
    name: 'has a text of another program in place of a record',
    begin: ({ admin, pair }) => admin.set(pair.record('heartbeat'), 'an-old-application'),
    end: ({ admin, pair }) => admin.del(pair.record('heartbeat')),
    says: /:heartbeat\] cannot be led \(the record 'heartbeat:lock' in Redis cannot be read/,
    jobs: ['heartbeat'],
  },
];

describe('a Redis that', () => {
  it.concurrent.each(REFUSALS)(
    '$name is logged once, and jobs go on after the fix',
    async ({ begin, end, says, jobs, isAnonymous = false }) => {
      await using server = await RedisServer.start();
      using outside = adminClient(server);
      const { admin } = outside;
      await permit(admin);
      const url = isAnonymous ? server.url : server.url.replace('//', '//jobs:secret@');
      await using pair = await ReplicaPair.start([url, url]);
      const { leader } = pair;
      const concerned = jobs ?? pair.jobNames;
      const counts = pair.replicas.map(({ warnings }) => warnings.length);
      const faultRun = { admin, pair };

      await begin(faultRun);
      await pair.until('the terms are over', () => concerned.every((name) => !leader.leads.has(name)), {
        withinMs: LOCK_EXPIRY_MS + SLACK_MS,
      });
      await pair.until('both warn', () =>
        pair.replicas.every(({ warnings }) => warnings.some((line) => says.test(line))),
      );
      const overMs = performance.now();
      await new Promise((resolve) => setTimeout(resolve, LOCK_EXPIRY_MS + 1_000));
      const endsMs = performance.now();
      await end(faultRun);
      await pair.goesOn();

      const during = pair.runs.filter(({ startedAtMs }) => startedAtMs > overMs && startedAtMs < endsMs);
      expect(during.filter(({ job }) => concerned.includes(job))).toEqual([]);
      expect(new Set(during.map(({ job }) => job)).size).toBe(pair.jobNames.length - concerned.length);
      expect(pair.violations()).toEqual([]);
      pair.replicas.forEach(({ warnings }, index) => {
        // a replica may notice its lost connection before Redis refuses it
        const others = /became LEADER|Redis is unavailable, .*(closed|ECONNRESET|ECONNREFUSED|EPIPE)/;
        const since = warnings
          .slice(counts[index])
          .filter((line) => !others.test(line) && !line.includes('lost leadership'));
        expect(since).toEqual([expect.stringMatching(says)]);
      });
    },
  );

  it.concurrent('permits heartbeats and no writes starts no cron job, and the others go on', async () => {
    await using server = await RedisServer.start();
    using outside = adminClient(server);
    const { admin } = outside;
    await permit(admin);
    const url = server.url.replace('//', '//jobs:secret@');
    await using pair = await ReplicaPair.start([url, url]);
    const { leader, follower } = pair;
    await permit(admin, '-set');
    await pair.until('the leader warns', () => leader.warnings.length > 0);
    const fromMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, LOCK_EXPIRY_MS + 1_000));
    const jobs = pair.runs.filter(({ startedAtMs }) => startedAtMs > fromMs).map(({ job }) => job);
    expect(new Set(jobs)).toEqual(new Set(['price-tick', 'heartbeat']));
    expect(leader.leads.size).toBe(pair.jobNames.length);

    await permit(admin);
    await pair.goesOn();
    expect(leader.warnings).toEqual([expect.stringMatching(/'write' with .*(NOPERM|can't run)/)]);
    expect(follower.warnings).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });
});
