import { describe, expect, it } from '@jest/globals';
import { ManualClock } from './manual-clock.js';

describe('A manual clock', () => {
  it('never goes back, also if a timer blocks for longer than the advance', async () => {
    const clock = new ManualClock();
    const start = clock.wallNow();
    clock.setTimer(1_000, () => void clock.block(9_000));
    await clock.advance(2_000);
    expect([clock.now(), clock.wallNow() - start]).toEqual([10_000, 10_000]);
  });

  it('ends a sleep when it has moved on by as long', async () => {
    const clock = new ManualClock();
    const ends: number[] = [];
    void clock.sleep(1_000).then(() => ends.push(clock.now()));
    await clock.advance(999);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual([1_000]);
  });

  it('rejects a sleep with the reason of its signal, at once', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(1_000, { signal: controller.signal })).rejects.toThrow('enough');
    expect(clock.pendingTimers).toBe(0);
  });
});
