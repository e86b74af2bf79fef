import { describe, expect, it } from '@jest/globals';
import { type Timer } from '../base/time/clock.js';
import { ManualClock, settle } from '../testing/manual-clock.js';
import { Sleeper } from './sleeper.js';

/** Its timers fire early, as those of Node do. */
class EarlyClock extends ManualClock {
  override setTimer(delayMs: number, fire: () => void): Timer {
    return super.setTimer(delayMs - 0.5, fire);
  }
}

function setup(clock = new ManualClock()) {
  const sleeper = new Sleeper(clock);
  const woken: number[] = [];
  const note = () => woken.push(clock.now());
  const sleep = (delayMs: number, until?: Promise<void>) => sleeper.sleep(delayMs, until).then(note);
  return { clock, sleeper, sleep, woken };
}

describe('A sleeper', () => {
  it('sleeps again and again, 30 s at most', async () => {
    const { clock, sleep, woken } = setup();
    for (const delayMs of [100, 50, 0, 60_000]) {
      void sleep(delayMs);
      await clock.advance(delayMs);
    }
    expect(woken).toEqual([100, 150, 150, 30_150]);
  });

  it('wakes as soon as it is ended, and does not sleep again', async () => {
    const { clock, sleeper, sleep, woken } = setup();
    void sleep(60_000);
    await clock.advance(10);
    sleeper.end();
    await settle();
    void sleep(60_000);
    await settle();
    expect(woken).toEqual([10, 10]);
  });

  it('sets a timer again that fires early', async () => {
    const { clock, sleep, woken } = setup(new EarlyClock());
    void sleep(3);
    await clock.advance(2.9);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([3]);
  });

  it('adds one handler to a promise that it gets several times', async () => {
    const { clock, sleep } = setup();
    let waits = 0;
    const until = { then: () => void (waits += 1) } as unknown as Promise<void>;
    for (let i = 0; i < 3; i++) {
      void sleep(10, until);
      await clock.advance(10);
    }
    expect(waits).toBe(1);
  });

  it('wakes when its promise resolves, and keeps no timer', async () => {
    const { clock, sleep, woken } = setup();
    const until = new Promise<void>((resolve) => clock.setTimer(10, resolve));
    void sleep(60_000, until);
    await clock.advance(10);
    expect(woken).toEqual([10]);
    expect(clock.pendingTimers).toBe(0);
  });
});
