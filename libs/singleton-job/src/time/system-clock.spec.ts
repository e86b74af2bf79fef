import { describe, expect, it } from '@jest/globals';
import { sleep } from './sleep.js';
import { SystemClock } from './system-clock.js';

describe('The clock of the machine', () => {
  it('does not fire a timer early that is longer than setTimeout allows', async () => {
    const clock = new SystemClock();
    let hasFired = false;
    const timer = clock.setTimer(2 ** 31 + 1_000, () => (hasFired = true));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(hasFired).toBe(false);
    timer.cancel();
  });

  it('reads both clocks, which advance', async () => {
    const clock = new SystemClock();
    const before = { now: clock.now(), wall: clock.wallNow() };
    await new Promise<void>((resolve) => clock.setTimer(2, resolve));
    expect(clock.now()).toBeGreaterThan(before.now);
    expect(clock.wallNow()).toBeGreaterThanOrEqual(before.wall);
  });
});

describe('A sleep', () => {
  it('ends when its signal aborts, and leaves no listener', async () => {
    const clock = new SystemClock();
    const stop = new AbortController();
    const slept = sleep(clock, 60_000, stop.signal);
    stop.abort();
    await slept;
    await sleep(clock, 60_000, stop.signal);
  });
});
