import { describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { FaultRun } from './support/fault-run.js';

const CUTS = [
  { name: 'is half open', cut: 'freeze', repair: 'thaw' },
  { name: 'is reset again and again', cut: 'refuse', repair: 'accept' },
] as const;

describe.each(CUTS)('a leader whose own connection $name', ({ cut, repair }) => {
  it('ends its terms before another replica runs, and follows when it is back', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, proxies, admin } = faultRun;
    const { leader, follower } = pair;
    const lineCount = leader.lines.length;
    proxies[0][cut]();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length, {
      withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS,
    });
    await pair.goesOn();
    expect(leader.observer.of('leadershipLost').map(({ reason }) => reason)).toEqual(['expired', 'expired', 'expired']);

    const holders = async () => (await pair.records(admin)).map(({ holder }) => holder);
    const before = await holders();
    // requests that were under way arrive now, long after their sender gave up
    proxies[0][repair]();
    const isBack = (line: string): boolean => line.includes('Redis is available again');
    await pair.until('the first one is back', () => leader.lines.slice(lineCount).some(isBack));
    const meanwhile = leader.lines.slice(lineCount, leader.lines.findLastIndex(isBack));
    expect(meanwhile.filter((line) => line.startsWith('error: '))).toHaveLength(1);
    await pair.goesOn();
    expect(await holders()).toEqual(before);
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(leader.leads.size).toBe(0);
    expect(pair.violations()).toEqual([]);
  });
});

describe('every command of an ended term', () => {
  it('changes nothing when it is carried out again', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, proxies, server, admin } = faultRun;
    await pair.leader.pool.stop();
    await pair.until('the follower leads', () => pair.follower.leads.size === pair.jobNames.length);
    await pair.goesOn();

    const before = await pair.records(admin);
    const [first] = proxies;
    for (let times = 0; times < 2; times++) {
      for (const sent of first.sent) await replay(server.port, Buffer.concat(sent));
    }
    const after = await pair.records(admin);
    after.forEach(({ holder, fencingToken, lastScheduledAt = 0, run }, index) => {
      const old = before[index];
      expect([holder, fencingToken]).toEqual([old?.holder, old?.fencingToken]);
      expect(lastScheduledAt).toBeGreaterThanOrEqual(old?.lastScheduledAt ?? 0);
      expect(run?.startedAt ?? 0).toBeGreaterThanOrEqual(old?.run?.startedAt ?? 0);
    });
    await pair.goesOn();
    expect(pair.follower.observer.of('leadershipLost')).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });
});

/** Sends the same bytes again, and waits until Redis has carried out all commands. */
async function replay(port: number, bytes: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.resume();
  socket.end(bytes);
  await once(socket, 'close');
}
