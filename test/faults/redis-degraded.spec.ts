import { describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { ReplicaPair } from './support/replica-pair.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { adminClient } from './support/fault-run.js';

describe('a Redis that is full and evicts nothing', () => {
  it('keeps its leaders, and other replicas lead after them', async () => {
    await using server = await RedisServer.start({ args: ['--maxmemory-policy', 'noeviction'] });
    using outside = adminClient(server);
    const { admin } = outside;
    await using pair = await ReplicaPair.start([server.url, server.url]);
    const { leader, follower } = pair;
    await admin.config('SET', 'maxmemory', '1');
    await expect(admin.set('any', 'thing')).rejects.toThrow('OOM');

    const fromMs = performance.now();
    while (performance.now() < fromMs + 2 * LOCK_EXPIRY_MS) await pair.goesOn();
    expect(leader.leads.size).toBe(pair.jobNames.length);

    await leader.pool.stop();
    expect(leader.observer.of('leadershipReleased').map(({ confirmed }) => confirmed)).toEqual([true, true, true]);
    await pair.goesOn({ withinMs: 1_000 + SLACK_MS });
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.replicas.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a Redis that no longer permits the channel', () => {
  it('is logged once, changes no leader, and replicas look once a second', async () => {
    await using server = await RedisServer.start();
    using outside = adminClient(server);
    const { admin } = outside;
    await admin.call('ACL', 'SETUSER', 'jobs', 'on', '>secret', '~*', '&*', '+@all');
    const url = server.url.replace('//', '//jobs:secret@');
    // so long that only a look shows it in time, also on a busy machine
    await using pair = await ReplicaPair.start([url, url], { options: { lockExpiry: 10_000 } });
    const { leader, follower } = pair;

    // this ends the connections that are subscribed
    await admin.call('ACL', 'SETUSER', 'jobs', 'resetchannels');
    await pair.until('both replicas report it', () => pair.replicas.every(({ warnings }) => warnings.length > 0));
    await pair.goesOn();
    for (const { warnings } of pair.replicas) {
      expect(warnings).toEqual([
        expect.stringMatching(/gets no messages of other replicas.*NOPERM.*Jobs run and locks hold/),
      ]);
    }
    expect(leader.leads.size).toBe(pair.jobNames.length);

    await leader.pool.stop();
    await pair.goesOn({ withinMs: 1_000 + SLACK_MS });
    expect(follower.leads.size).toBe(pair.jobNames.length);

    await admin.call('ACL', 'SETUSER', 'jobs', '&*');
    await pair.until('messages arrive again', () => follower.isListening);
    expect(pair.violations()).toEqual([]);
    expect(follower.warnings).toHaveLength(1);
  });
});
