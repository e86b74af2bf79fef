import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { cron } from './cron/cron.js';
import { fixedRate } from './fixed-rate.js';
import { jittered } from './jitter.js';

const MINUTE = 60_000;
const START = Date.UTC(2027, 0, 1);

const rate = fixedRate(MINUTE, { offsetMs: 5_000 });
const everyMinute = cron('* * * * *');

/** The first ticks after a time. */
function ticksOf({ next }: { readonly next: (previous: number) => number | undefined }, count: number): number[] {
  const ticks = [START];
  while (ticks.length <= count) ticks.push(next(ticks.at(-1) ?? 0) ?? NaN);
  return ticks.slice(1);
}

describe.each([
  ['a fixed rate', rate, (jitterMs: number, jobName: string) => jittered(rate, { jitterMs, jobName })],
  ['a cron job', everyMinute, (jitterMs: number, jobName: string) => jittered(everyMinute, { jitterMs, jobName })],
])('The jitter of %s', (_kind, base, delayedBy) => {
  it.each([20_000, 10 * MINUTE])(
    'of %d ms delays each tick by less than it, and by less than the next tick',
    (jitterMs) => {
      const expected = ticksOf(base, 200);
      const delayed = ticksOf(delayedBy(jitterMs, 'report'), 201).filter((tick) => tick >= (expected[0] ?? 0));
      const delays = expected.map((tick, i) => (delayed[i] ?? NaN) - tick);
      expect(delays.every((ms) => ms >= 0 && ms < Math.min(jitterMs, MINUTE))).toBe(true);
      expect(new Set(delays).size).toBeGreaterThan(150);
    },
  );

  it('is another one for another job, and the same for the same', () => {
    const [one, again, other] = ['one', 'one', 'other'].map((name) => ticksOf(delayedBy(20_000, name), 20));
    expect(one).toEqual(again);
    expect(one).not.toEqual(other);
  });

  it('finds the newest tick up to any time', () => {
    const schedule = delayedBy(10 * MINUTE, 'report');
    const ticks = ticksOf(schedule, 100);
    for (const [i, tick] of ticks.entries()) {
      const before = ticks[i - 1];
      if (before === undefined) continue;
      expect([schedule.latest(tick), schedule.latest(tick - 1)]).toEqual([tick, before]);
    }
  });
});

describe('A job with jitter', () => {
  const replicas = useReplicas();

  it.each([
    ['cron', jittered(everyMinute, { jitterMs: 10 * MINUTE, jobName: 'tick' })],
    ['fixed rate', jittered(fixedRate(MINUTE), { jitterMs: 10 * MINUTE, jobName: 'tick' })],
  ])('runs each tick once, at its delayed time, through graceful hand-overs: %s', async (_kind, schedule) => {
    const started: string[] = [];
    const ticking = () =>
      job({
        schedule,
        run: ({ scheduledAt, startedAt }) => started.push(`${scheduledAt.getTime()} ${startedAt.getTime()}`),
      });
    for (let i = 0; i < 12; i++) {
      const replica = replicas.start(`replica-${i}`, [ticking()]);
      await replicas.clock.advance(5.3 * MINUTE);
      const next = replicas.start(`next-${i}`, [ticking()]);
      await replicas.clock.advance(3_000);
      await Promise.all([replica.pool.stop(), replicas.clock.advance(100)]);
      await Promise.all([next.pool.stop(), replicas.clock.advance(100)]);
    }
    const expected = ticksOf(schedule, started.length).map((tick) => `${tick} ${tick}`);
    expect(started.length).toBeGreaterThan(60);
    expect(started.map((line) => line.split(' ')[0])).toEqual(expected.map((line) => line.split(' ')[0]));
  });
});
