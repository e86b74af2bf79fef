import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { Waker } from './waker.js';

function setup() {
  const clock = new ManualClock();
  const waker = new Waker();
  const wait = async (delayMs: number): Promise<number> => {
    await waker.wait(clock, delayMs);
    return clock.now();
  };
  return { clock, waker, wait };
}

describe('A waker', () => {
  it('lets a follower sleep for as long as it asked', async () => {
    const { clock, wait } = setup();
    const woke = wait(5_000);
    await clock.advance(10_000);
    expect(await woke).toBe(5_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends the sleep at once when it is woken', async () => {
    const { clock, waker, wait } = setup();
    const woke = wait(5_000);
    await clock.advance(100);
    waker.wake();
    expect(await woke).toBe(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps a wake-up that came while nobody slept', async () => {
    const { waker, wait } = setup();
    waker.wake();
    expect(await wait(5_000)).toBe(0);
  });

  it('forgets a wake-up that a bid has answered', async () => {
    const { clock, waker, wait } = setup();
    waker.wake();
    waker.clear();
    const woke = wait(5_000);
    await clock.advance(5_000);
    expect(await woke).toBe(5_000);
  });
});
