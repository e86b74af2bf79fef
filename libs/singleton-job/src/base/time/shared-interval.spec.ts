import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../testing/manual-clock.js';
import { SharedInterval } from './shared-interval.js';

function setup() {
  const clock = new ManualClock();
  const calls: string[] = [];
  const interval = new SharedInterval(clock, 3_000);
  const add = (name: string) => interval.add(() => calls.push(`${name}@${clock.now()}`));
  return { clock, interval, calls, add };
}

describe('A shared interval', () => {
  it('repeats everything together, once an interval', async () => {
    const { clock, calls, add, interval } = setup();
    add('a');
    await clock.advance(1_000);
    add('b');
    await clock.advance(5_000);
    expect(calls).toEqual(['a@3000', 'b@3000', 'a@6000', 'b@6000']);
    interval.stop();
  });

  it('neither drifts when a turn is late nor makes up for turns that were missed', async () => {
    const { clock, calls, add, interval } = setup();
    add('a');
    await clock.block(3_400);
    await clock.advance(2_600);
    await clock.block(10_000);
    await clock.advance(4_000);
    expect(calls).toEqual(['a@3400', 'a@6000', 'a@16000', 'a@19000']);
    interval.stop();
  });

  it('leaves no timer when nothing is left to repeat', async () => {
    const { clock, add } = setup();
    const leave = add('a');
    leave();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10_000);
  });
});
