import { describe, expect, it } from '@jest/globals';
import { leadership, timesOf } from '../../../../test/support/event-lines.js';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRun } from '../jobs/job-run.js';
import { whileLeader } from '../schedule/without-ticks.js';

const DAY_MS = 86_400_000;

describe('A @WhileLeader job', () => {
  const replicas = useReplicas();
  const feed = (run: (run: JobRun) => unknown, restartDelayMs = 1_000) =>
    job({ schedule: whileLeader(restartDelayMs), warnAfterMs: undefined, run });
  const consuming = () => feed(lasting(replicas.clock, DAY_MS, { obedient: true }));
  const failing = () =>
    feed(() => {
      throw new Error('refused');
    });
  const calls = (replica: TestReplica) => timesOf(replica, 'runStarted');

  it('is called when its replica becomes the leader, once', async () => {
    const [a, b] = await replicas.leaderAndFollower([consuming()], 600_000);
    expect([a, b].map(calls)).toEqual([[0], []]);
    expect(a.observer.of('runSlow')).toEqual([]);
  });

  it('is told at once that the application stops, and another replica calls it when it has settled', async () => {
    const settling = (run: JobRun) =>
      new Promise<void>((resolve) => {
        run.signal.addEventListener('abort', () => replicas.clock.setTimer(200, resolve));
      });
    const a = replicas.start('a', [feed(settling)]);
    const b = await replicas.another([consuming()], 5_000);
    void a.pool.stop();
    await replicas.clock.advance(250);
    expect(leadership(a)).toEqual(['0 leadershipGained', '5200 leadershipReleased shutdown']);
    expect(calls(b)).toEqual([5_200]);
  });

  it.each([
    ['pause', (replica: TestReplica) => replica.registry.pause('tick')],
    ['pauseAll', (replica: TestReplica) => replica.registry.pauseAll()],
    ['stepDown', (replica: TestReplica) => replica.registry.stepDown('tick')],
    ['unregister', (replica: TestReplica) => replica.registry.unregister('tick')],
  ])('is told at once by %s()', async (_name, act) => {
    const a = await replicas.leader([consuming()], 5_000);
    void act(a);
    await replicas.clock.advance(10);
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'STEPPED_DOWN', durationMs: 5_000 }]);
    expect(a.observer.of('leadershipReleased')).toHaveLength(1);
  });

  it('is told at once also if a trigger that was accepted before the drain starts it', async () => {
    let isFirst = true;
    const { clock } = replicas;
    const once = (run: JobRun): unknown =>
      isFirst ? (isFirst = false) : lasting(clock, DAY_MS, { obedient: true })(run);
    const a = replicas.start('a', [feed(once, 60_000)]);
    await clock.advance(1_000);
    const runner = a.pool.find('tick');
    const { term } = runner?.election ?? {};
    const reply = term && runner?.reply({ id: 'c', action: 'trigger', until: clock.wallNow() + 1_000 }, term);
    const removed = a.registry.unregister('tick');
    reply?.settle?.(true);
    await clock.advance(10);
    await expect(removed).resolves.toBeUndefined();
  });

  it('is called again after restartDelay when it has returned', async () => {
    const a = await replicas.leader([feed(lasting(replicas.clock, 500), 2_000)], 6_000);
    expect(calls(a)).toEqual([0, 2_500, 5_000]);
  });

  it('warns once in a term if its method returns within a second, again and again', async () => {
    const durations = [500, 2_000, 500, 500, 999, 500, 500];
    const a = await replicas.leader([feed((run) => lasting(replicas.clock, durations.shift() ?? 0)(run))], 20_000);
    expect(a.observer.of('warning')).toMatchObject([{ code: 'RETURNS_AT_ONCE', job: 'tick' }]);
    expect(timesOf(a, 'warning')).toEqual([8_499]);
  });

  it('waits twice as long after each throw, up to 30 s, and steps down after every third', async () => {
    const a = await replicas.leader([failing()], 120_000);
    expect(calls(a)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
    expect(timesOf(a, 'leadershipReleased')).toEqual([3_000, 31_000]);
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ reason: 'failed-calls' }, {}]);
  });

  it('starts to count throws anew after a call that lasted 30 s', async () => {
    let lastsMs = 100;
    const a = replicas.start('a', [
      feed(async (run) => {
        await lasting(replicas.clock, lastsMs)(run);
        throw new Error('the connection is gone');
      }),
    ]);
    await replicas.clock.advance(1_500);
    lastsMs = 40_000;
    await replicas.clock.advance(100_000);
    expect(calls(a)).toEqual([0, 1_100, 3_200, 44_200, 85_200]);
    expect(a.observer.of('leadershipReleased')).toEqual([]);
  });

  it('is reported once if it has not settled 10 s after its signal', async () => {
    const a = await replicas.leader([feed(lasting(replicas.clock, 60_000))], 1_000);
    void a.registry.stepDown('tick');
    await replicas.clock.advance(9_900);
    expect(a.observer.of('runSlow')).toEqual([]);
    await replicas.clock.advance(30_000);
    expect(a.observer.of('runSlow')).toMatchObject([{ abortCode: 'STEPPED_DOWN', warnAfterMs: 10_000 }]);
  });

  it('is called later and later on the next replicas, if its run ends each process', async () => {
    const calledAtMs: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const crashing = feed(() => {
        calledAtMs.push(replicas.clock.now());
        replicas.clock.setTimer(100, () => {
          replica.crash();
        });
        return new Promise(() => undefined);
      });
      const replica = replicas.start(name, [crashing]);
      await replicas.clock.advance(10);
    }
    await replicas.clock.advance(30_000);
    const gaps = calledAtMs.slice(1).map((atMs, index) => Math.round((atMs - (calledAtMs[index] ?? 0)) / 100) / 10);
    expect(gaps).toEqual([1.1, 2.1, 4.1, 8.1]);
  });
});
