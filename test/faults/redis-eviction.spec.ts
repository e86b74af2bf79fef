import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { ReplicaPair } from './support/replica-pair.js';
import { adminClient } from './support/fault-run.js';
import { monitored } from '../../tools/replicas/redis/monitor.js';

/** The number of INFO requests, without those that ioredis sends for each connection. */
async function questionsTo({ url }: RedisServer, begin: () => Promise<unknown>): Promise<number> {
  let questions = 0;
  const count = (line: string): void => {
    if (/"info" "default"/i.test(line)) questions++;
  };
  await monitored(url, count, begin);
  return questions;
}

const codesOf = ({ observer }: ReplicaPair['leader']): string[] => observer.of('warning').map(({ code }) => code);

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the eviction policy of Redis', () => {
  it.each(['allkeys-lru', 'volatile-ttl'])(
    '%s is warned about once by each replica, and stops no job',
    async (policy) => {
      await using server = await RedisServer.start({ args: ['--maxmemory-policy', policy] });
      using outside = adminClient(server);
      const { admin } = outside;
      await using pair = await ReplicaPair.start([server.url, server.url]);
      await pair.until('both warn', () => pair.replicas.every(({ warnings }) => warnings.length > 0));
      // a new connection does not log it again
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await pair.goesOn();
      for (const { warnings } of pair.replicas) {
        expect(warnings.filter((line) => line.includes('maxmemory-policy'))).toEqual([
          expect.stringMatching(new RegExp(`^warn: .* may lose locks .* ${policy}. Set it to noeviction`)),
        ]);
      }
    },
  );

  it('noeviction is not logged, and costs each replica one request', async () => {
    await using server = await RedisServer.start({ args: ['--maxmemory-policy', 'noeviction'] });
    using outside = adminClient(server);
    const questions = await questionsTo(server, async () => {
      await using pair = await ReplicaPair.start([server.url, server.url]);
      await outside.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await pair.goesOn();
      expect(pair.replicas.flatMap(({ observer }) => observer.of('warning'))).toEqual([]);
    });
    expect(questions).toBe(2);
  });

  it('is unknown without INFO, which is logged', async () => {
    // the client logs this itself
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    await using server = await RedisServer.start({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    using outside = adminClient(server);
    await outside.admin.call('ACL', 'SETUSER', 'jobs', 'on', '>secret', '~*', '&*', '+@all', '-info');
    const url = server.url.replace('//', '//jobs:secret@');
    await using pair = await ReplicaPair.start([url, url]);
    await pair.until('both know', () => pair.replicas.every((replica) => codesOf(replica).includes('RESTARTS_HIDDEN')));
    for (const replica of pair.replicas) {
      const { warnings } = replica;
      expect(codesOf(replica)).toEqual(['RESTARTS_HIDDEN']);
      expect(warnings).toEqual([
        expect.stringMatching(/^warn: .* because INFO is not permitted.* Permit \+info and \+time/),
      ]);
    }
  });

  it('that evicts a lock is noticed by its leader at the next renewal', async () => {
    await using server = await RedisServer.start({ args: ['--maxmemory-policy', 'volatile-ttl'] });
    using outside = adminClient(server);
    const { admin } = outside;
    await using pair = await ReplicaPair.start([server.url, server.url]);
    const { leader } = pair;
    // only locks have a time to live, so locks are evicted
    const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', String(used - 1));
    await pair.until('a lock is lost', () => leader.observer.of('leadershipLost').length > 0);
    await admin.config('SET', 'maxmemory', '0');
    await pair.goesOn();
    expect(leader.observer.of('leadershipLost').map(({ reason }) => reason)).toContain('preempted');
  });
});
