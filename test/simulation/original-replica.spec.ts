import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryLockStore } from '../../libs/singleton-job/src/lock/index.js';
import { cron, fixedRate, interval } from '../../libs/singleton-job/src/schedule/index.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/index.js';
import { type OriginalVersion } from '../support/original-belief.js';
import { type OriginalParts, OriginalReplica } from '../support/original-replica.js';
import { unlessCut } from '../support/original-server.js';
import { originalInMemory } from './original-in-memory.js';

const VERSIONS: readonly OriginalVersion[] = ['1.0.0', 'main'];
const everySecond = cron('* * * * * *', { timeZone: 'UTC', jobName: 'cron' });

describe('The stand-in of the original', () => {
  let clock: ManualClock;
  let store: InMemoryLockStore;
  let isCut = false;

  beforeEach(() => {
    clock = new ManualClock();
    store = new InMemoryLockStore(clock);
    isCut = false;
  });

  const start = (version: OriginalVersion, nodeId: string, parts: Partial<OriginalParts> = {}) => {
    const runs: number[] = [];
    const replica = new OriginalReplica({
      version,
      server: unlessCut(() => isCut, originalInMemory(store)),
      clock,
      random: () => 0.5,
      project: 'myapp',
      job: 'tick',
      nodeId,
      schedule: fixedRate(1_000),
      run: async () => {
        runs.push(clock.now());
      },
      ...parts,
    });
    replica.start();
    return { replica, runs };
  };

  it.each(VERSIONS)('elects one leader, whose node id is the whole value of the lock (%s)', async (version) => {
    const a = start(version, 'node-a');
    await clock.advance(500);
    const b = start(version, 'node-b');
    await clock.advance(30_000);
    expect([a.replica.isLeader, b.replica.isLeader]).toEqual([true, false]);
    expect(store.holderOf('tick')).toBe('node-a');
    expect(a.runs).toHaveLength(30);
    expect(b.runs).toEqual([]);
    a.replica.kill();
    b.replica.kill();
  });

  it.each(VERSIONS)(
    'hands over within a heartbeat when it stops, and after the lock expired when it is killed (%s)',
    async (version) => {
      const a = start(version, 'node-a');
      await clock.advance(500);
      const b = start(version, 'node-b');
      const c = start(version, 'node-c');
      await clock.advance(10_000);
      await a.replica.stop();
      await clock.advance(3_000);
      expect([b.replica.isLeader, c.replica.isLeader]).toEqual([true, false]);
      b.replica.kill();
      await clock.advance(6_500);
      expect(c.replica.isLeader).toBe(false);
      await clock.advance(6_500);
      expect(c.replica.isLeader).toBe(true);
      c.replica.kill();
    },
  );

  it('leads for ever while it is cut off in 1.0.0, and until the lock expires in main', async () => {
    const old = start('1.0.0', 'node-a');
    const recent = start('main', 'node-b', { job: 'other' });
    await clock.advance(9_500);
    isCut = true;
    await clock.advance(9_000);
    expect([old.replica.isLeader, recent.replica.isLeader]).toEqual([true, true]);
    await clock.advance(600_000);
    expect([old.replica.isLeader, recent.replica.isLeader]).toEqual([true, false]);
    old.replica.kill();
    recent.replica.kill();
  });

  it('backs off as a leader too in 1.0.0, and loses the lock by two failures', async () => {
    const { replica } = start('1.0.0', 'node-a');
    await clock.advance(100);
    isCut = true;
    await clock.advance(9_100);
    isCut = false;
    await clock.advance(1_500);
    expect(store.holderOf('tick')).toBeUndefined();
    replica.kill();
  });

  it('stops its heartbeats before a run in flight has ended, and releases after it', async () => {
    let finish: () => void = () => undefined;
    const run = (): Promise<void> =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const { replica } = start('main', 'node-a', { run });
    await clock.advance(1_500);
    const stopped = replica.stop();
    await clock.advance(9_000);
    expect(store.holderOf('tick')).toBeUndefined();
    finish();
    await stopped;
  });

  it('replays in 1.0.0 the occurrences that came due during a run, and skips them in main', async () => {
    const run = (): Promise<void> => new Promise((resolve) => clock.setTimer(3_500, resolve));
    const counts = await Promise.all(
      VERSIONS.map(async (version) => {
        const scheduled: string[] = [];
        const { replica } = start(version, `node-${version}`, {
          job: version,
          schedule: everySecond,
          run: ({ scheduledAt }) => {
            scheduled.push(scheduledAt.toISOString().slice(17, 19));
            return run();
          },
        });
        return { scheduled, replica };
      }),
    );
    await clock.advance(9_000);
    expect(counts.map(({ scheduled }) => scheduled)).toEqual([
      ['01', '02', '03'],
      ['01', '05', '09'],
    ]);
    for (const { replica } of counts) replica.kill();
  });

  it('waits whole intervals also as a follower', async () => {
    const a = start('main', 'node-a');
    await clock.advance(100);
    const b = start('main', 'node-b', { schedule: interval(60_000) });
    await a.replica.stop();
    await clock.advance(59_000);
    expect(b.replica.isLeader).toBe(true);
    expect(b.runs).toEqual([]);
    await clock.advance(2_000);
    expect(b.runs).toEqual([60_100]);
    b.replica.kill();
  });
});
