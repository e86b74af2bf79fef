import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { Pulse } from './pulse.js';

function setup() {
  const clock = new ManualClock();
  const beats: string[] = [];
  const pulse = new Pulse(clock, 3_000);
  const join = (name: string) => pulse.join(() => beats.push(`${name}@${clock.now()}`));
  return { clock, pulse, beats, join };
}

describe('A pulse', () => {
  it('repeats everything together, once an interval', async () => {
    const { clock, beats, join, pulse } = setup();
    join('a');
    await clock.advance(1_000);
    join('b');
    await clock.advance(5_000);
    expect(beats).toEqual(['a@3000', 'b@3000', 'a@6000', 'b@6000']);
    pulse.stop();
  });

  it('neither drifts when a beat is late nor makes up for beats that were missed', async () => {
    const { clock, beats, join, pulse } = setup();
    join('a');
    await clock.block(3_400);
    await clock.advance(2_600);
    await clock.block(10_000);
    await clock.advance(4_000);
    expect(beats).toEqual(['a@3400', 'a@6000', 'a@16000', 'a@19000']);
    pulse.stop();
  });

  it('leaves no timer when nothing is left to repeat', async () => {
    const { clock, join } = setup();
    const leave = join('a');
    leave();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10_000);
  });
});
