import { describe, expect, it } from '@jest/globals';
import { ManualClock, settle } from '../testing/index.js';
import { Alarm } from './alarm.js';

function setup() {
  const clock = new ManualClock();
  const alarm = new Alarm(clock);
  const stop = new AbortController();
  const woken: number[] = [];
  const wait = () => alarm.wait(stop.signal).then(() => woken.push(clock.now()));
  return { clock, alarm, stop, woken, wait };
}

describe('An alarm', () => {
  it('goes off at the earliest time it was set to', async () => {
    const { clock, alarm, woken, wait } = setup();
    void wait();
    alarm.bringForward(5_000);
    alarm.bringForward(1_000);
    alarm.bringForward(3_000);
    await clock.advance(10_000);
    expect(woken).toEqual([1_000]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes off at once without a delay', async () => {
    const { alarm, woken, wait } = setup();
    void wait();
    alarm.bringForward(0);
    await settle();
    expect(woken).toEqual([0]);
  });

  it('is kept for the next wait if it goes off while nothing waits', async () => {
    const { clock, alarm, woken, wait } = setup();
    alarm.bringForward(1_000);
    await clock.advance(2_000);
    void wait();
    await settle();
    expect(woken).toEqual([2_000]);
  });

  it('does not go off once it is cleared', async () => {
    const { clock, alarm, stop, woken, wait } = setup();
    void wait();
    alarm.bringForward(1_000);
    alarm.clear();
    await clock.advance(2_000);
    expect([woken, clock.pendingTimers]).toEqual([[], 0]);
    stop.abort();
    await settle();
    expect(woken).toEqual([2_000]);
  });
});
