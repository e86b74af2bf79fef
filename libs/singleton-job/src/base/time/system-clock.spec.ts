import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { SystemClock } from './system-clock.js';

describe('The clock of the machine', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('does not fire a timer early that is longer than setTimeout allows', () => {
    jest.useFakeTimers();
    let hasFired = false;
    new SystemClock().setTimer(2 ** 31 + 1_000, () => (hasFired = true));
    jest.advanceTimersByTime(2 ** 31 + 999);
    expect(hasFired).toBe(false);
    jest.advanceTimersByTime(1);
    expect(hasFired).toBe(true);
  });

  it('fires a timer in no async context', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen = await new Promise<unknown>((resolve) => {
      storage.run('request', () => {
        new SystemClock().setTimer(1, () => {
          resolve(storage.getStore());
        });
      });
    });
    expect(seen).toBeUndefined();
  });

  it('reads both clocks, which advance', async () => {
    const clock = new SystemClock();
    const before = { now: clock.now(), wall: clock.wallNow() };
    await new Promise<void>((resolve) => clock.setTimer(2, resolve));
    expect(clock.now()).toBeGreaterThan(before.now);
    expect(clock.wallNow()).toBeGreaterThanOrEqual(before.wall);
  });
});
