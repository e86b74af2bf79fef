import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../testing/manual-clock.js';
import { Condition } from './condition.js';

describe('A condition', () => {
  it.each([
    ['true when it is notified', 5, true],
    ['false after the limit', 500, false],
  ])('is %s', async (_what, notifiedMs, expected) => {
    const clock = new ManualClock();
    const condition = new Condition(clock);
    const waiting = condition.wait(new AbortController().signal, 100);
    clock.setTimer(notifiedMs, () => {
      condition.notify();
    });
    await clock.advance(1_000);
    expect(await waiting).toBe(expected);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is false when the signal aborts, before or while something waits', async () => {
    const clock = new ManualClock();
    const condition = new Condition(clock);
    const stop = new AbortController();
    const waiting = condition.wait(stop.signal);
    stop.abort();
    expect([await waiting, await condition.wait(stop.signal)]).toEqual([false, false]);
  });
});
