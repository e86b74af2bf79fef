import { describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { SILENT, SLACK_MS } from '../../tools/replicas/busy-machine.js';
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

    const holders = (): Promise<(string | null)[]> => admin.mget(pair.jobNames.map((name) => pair.lock(name)));
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

    const before = await Promise.all(pair.jobNames.map((name) => admin.hgetall(pair.state(name))));
    const holders = await admin.mget(pair.jobNames.map((name) => pair.lock(name)));
    const [first] = proxies;
    for (let times = 0; times < 2; times++) {
      for (const sent of first.sent) await replay(server.port, Buffer.concat(sent));
    }
    expect(await admin.mget(pair.jobNames.map((name) => pair.lock(name)))).toEqual(holders);
    const after = await Promise.all(pair.jobNames.map((name) => admin.hgetall(pair.state(name))));
    after.forEach((state, index) => {
      for (const field of ['token', 'createdAt', 'claimed', 'handled', 'slot', 'runStartedAt', 'runEndedAt']) {
        expect(Number(state[field] ?? 0)).toBeGreaterThanOrEqual(Number(before[index]?.[field] ?? 0));
      }
      expect(state['token']).toBe(before[index]?.['token']);
    });
    await pair.goesOn();
    expect(pair.follower.observer.of('leadershipLost')).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });
});

describe('answers that come after their deadline', () => {
  it('keep the lease, which counts from the time of the request', async () => {
    // one job waits a second for each answer; the other one has repeated its request by then
    const jobs = [
      { name: 'quick', lockExpiryMs: 4_400 },
      { name: 'patient', lockExpiryMs: 10_000 },
    ];
    await using faultRun = await FaultRun.start({}, { jobs });
    const { pair, proxies } = faultRun;
    // in steps: one step would be a silence of nearly a second
    for (const answerDelayMs of [350, 650, 930]) {
      for (const proxy of proxies) proxy.answerDelayMs = answerDelayMs;
      await pair.goesOn();
    }
    const fromMs = performance.now();
    while (performance.now() < fromMs + 6_000) await pair.goesOn();
    expect(pair.leader.leads).toEqual(new Set(['quick', 'patient']));
    expect(pair.leader.observer.of('leadershipLost')).toEqual([]);
    // one line for all jobs and one for the job with the short time-out, not one for each of thirty renewals
    for (const { lines } of pair.replicas) expect(lines.filter((line) => SILENT.test(line)).length).toBeLessThan(10);
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
