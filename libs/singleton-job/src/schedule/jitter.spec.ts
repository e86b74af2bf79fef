import { describe, expect, it } from '@jest/globals';
import { cron } from './cron/cron.js';
import { fixedRate } from './fixed-rate.js';
import { jittered } from './jitter.js';

const MINUTE = 60_000;
const START = Date.UTC(2027, 0, 1);

const rate = fixedRate(MINUTE, 5_000);
const everyMinute = cron('* * * * *');

/** The first ticks after a time. */
function ticksOf({ next }: { readonly next: (previous: number) => number | undefined }, count: number): number[] {
  const ticks = [START];
  while (ticks.length <= count) ticks.push(next(ticks.at(-1) ?? 0) ?? NaN);
  return ticks.slice(1);
}

describe.each([
  ['a fixed rate', rate, (jitterMs: number, jobName: string) => jittered(rate, jitterMs, jobName)],
  ['a cron job', everyMinute, (jitterMs: number, jobName: string) => jittered(everyMinute, jitterMs, jobName)],
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

  it('finds the newest tick up to any time, and the next one after it', () => {
    const schedule = delayedBy(10 * MINUTE, 'report');
    const ticks = ticksOf(schedule, 100);
    for (const [i, tick] of ticks.entries()) {
      const before = ticks[i - 1];
      if (before === undefined) continue;
      expect([schedule.latest(tick), schedule.latest(tick - 1), schedule.next(tick - 1)]).toEqual([tick, before, tick]);
    }
  });
});
