import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../../../test/support/event-lines.js';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { ONCE } from '../schedule/without-ticks.js';

const MINUTE = 60_000;

const causes = (...all: TestReplica[]) =>
  all.flatMap(({ name, observer }) => observer.of('runStarted').map(({ cause }) => `${name} ${cause}`));

const replicas = useReplicas();
const handOver = (from: TestReplica) => Promise.all([from.pool.stop(), replicas.clock.advance(1_000)]);

describe('A job with firstRun', () => {
  /** At ten past midnight. */
  const daily = (version?: string, runMs = 0) =>
    job({ schedule: cron('10 0 * * *'), firstRun: 'now', version, run: lasting(replicas.clock, runMs) });

  it('runs when its first leader begins, and by its schedule after that', async () => {
    const [a, b] = await replicas.leaderAndFollower([daily()], 10 * MINUTE + 1_000);
    expect(causes(a, b)).toEqual(['a first-run', 'a schedule']);
    const [first] = a.observer.of('runStarted');
    expect(first?.scheduledAt).toEqual(new Date('2027-01-01T00:00:00Z'));
    await handOver(a);
    expect(causes(b)).toEqual([]);
  });

  it('does not run then if it has run before it had firstRun', async () => {
    const a = await replicas.leader([job({ schedule: cron('* * * * *') })], MINUTE);
    await handOver(a);
    const b = await replicas.another([daily()], 1_000);
    expect([causes(a), causes(b)]).toEqual([['a schedule'], []]);
  });

  it.each([
    ['cron', daily],
    ['interval', (version: string) => job({ schedule: interval(MINUTE), firstRun: 'now', version })],
    ['once', (version: string) => job({ schedule: ONCE, version })],
    ['interval, a short one', (version: string) => job({ schedule: interval(9_000), firstRun: 'now', version })],
  ])('runs once for each version, also where one of before leads again (%s)', async (_kind, of) => {
    const start = (name: string, version: string) => replicas.start(name, [of(version)]);
    const [a, b, c] = [start('a', '1'), start('b', '1'), start('c', '1')];
    await replicas.clock.advance(1_000);
    await handOver(a);
    const d = start('d', '2');
    await replicas.clock.advance(1_000);
    const old = b.registry.get('tick').leader === 'b' ? [b, c] : [c, b];
    for (const one of old) await handOver(one);
    const e = start('e', '1');
    await replicas.clock.advance(1_000);
    await handOver(d);
    expect(causes(a, b, c, d, e).filter((line) => line.endsWith('first-run'))).toEqual(['a first-run', 'd first-run']);
  });

  it('runs also after an occurrence that was missed in a deploy', async () => {
    const at = (version: string) => [job({ schedule: cron('* * * * *'), firstRun: 'now', version, misfireGraceMs: 0 })];
    const a = replicas.start('a', at('1'));
    await replicas.clock.advance(MINUTE - 1_000);
    await handOver(a);
    await replicas.clock.advance(2_000);
    const b = replicas.start('b', at('2'));
    await replicas.clock.advance(100);
    expect([b.observer.of('occurrencesMissed').length, causes(b)]).toEqual([1, ['b first-run']]);
  });

  it('counts the late run of an occurrence as its first run', async () => {
    const a = await replicas.leader([daily('1')], 10 * MINUTE - 5_000);
    await Promise.all([a.pool.stop(), replicas.clock.advance(10_000)]);
    const b = await replicas.another([daily('2')], 1_000);
    await handOver(b);
    const c = replicas.start('c', [daily('2')]);
    await replicas.clock.advance(1_000);
    expect(causes(a, b, c)).toEqual(['a first-run', 'b misfire']);
  });

  it('does not repeat a first run whose leader was killed, which the next one reports', async () => {
    const a = await replicas.leader([daily('1', MINUTE)], 1_000);
    a.kill();
    const b = await replicas.another([daily('1')], 20_000);
    expect([causes(a, b), b.observer.of('runInterrupted').length]).toEqual([['a first-run'], 1]);
  });

  it('waits for the end of a pause', async () => {
    const a = replicas.start('a', [daily()]);
    a.store.delayMs = 50;
    await replicas.clock.advance(10);
    void a.registry.pause('tick');
    await replicas.clock.advance(5_000);
    expect(causes(a)).toEqual([]);
    void a.registry.resume('tick');
    await replicas.clock.advance(5_000);
    expect([causes(a), timesOf(a, 'runStarted').length]).toEqual([['a first-run'], 1]);
  });
});

describe('A job of @Once', () => {
  const once = (run: () => unknown = () => undefined) => job({ schedule: ONCE, run });

  it('runs once on all replicas, and not again for the next leaders', async () => {
    const [a, b] = await replicas.leaderAndFollower([once()], 10 * MINUTE);
    await handOver(a);
    await replicas.clock.advance(10 * MINUTE);
    expect(causes(a, b)).toEqual(['a first-run']);
    expect(b.registry.get('tick')).toMatchObject({ kind: 'once', schedule: 'once', role: 'leader', nextTickAt: null });
  });

  it('is not repeated if it has failed, but for a trigger', async () => {
    const failing = (): never => {
      throw new Error('no');
    };
    const a = await replicas.leader([once(failing)], 1_000);
    const b = replicas.start('b', [once(failing)]);
    await handOver(a);
    await replicas.clock.advance(1_000);
    await Promise.all([b.registry.trigger('tick'), replicas.clock.advance(1_000)]);
    expect(causes(a, b)).toEqual(['a first-run', 'b trigger']);
  });
});
