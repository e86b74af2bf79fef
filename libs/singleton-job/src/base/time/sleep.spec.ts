import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../testing/manual-clock.js';
import { sleep } from './sleep.js';

function setup() {
  const clock = new ManualClock();
  const stop = new AbortController();
  const state = { hasEnded: false };
  const begin = (): Promise<void> => sleep(clock, 1_000, stop.signal).then(() => void (state.hasEnded = true));
  return { clock, stop, state, begin, listeners: () => getEventListeners(stop.signal, 'abort').length };
}

describe('A sleep', () => {
  it('ends after its delay, and leaves no listener', async () => {
    const { clock, state, begin, listeners } = setup();
    void begin();
    await clock.advance(999);
    expect([state.hasEnded, listeners()]).toEqual([false, 1]);
    await clock.advance(1);
    expect([state.hasEnded, listeners()]).toEqual([true, 0]);
  });

  it('ends when its signal aborts, and leaves neither a listener nor a timer', async () => {
    const { clock, stop, begin, listeners } = setup();
    const slept = begin();
    stop.abort();
    await slept;
    expect([listeners(), clock.pendingTimers]).toEqual([0, 0]);
  });

  it('does not begin after its signal has aborted', async () => {
    const { clock, stop, begin } = setup();
    stop.abort();
    await begin();
    expect(clock.pendingTimers).toBe(0);
  });
});
