import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { Heartbeat } from './heartbeat.js';

function setup() {
  const clock = new ManualClock();
  const beats: string[] = [];
  const heartbeat = new Heartbeat(clock, 3_000, (send) => {
    beats.push('[');
    send();
    beats.push(']');
  });
  const join = (name: string) => heartbeat.join(() => beats.push(`${name}@${clock.now()}`));
  return { clock, heartbeat, beats, join };
}

describe('The heartbeat', () => {
  it('sends all renewals of the process together, once an interval', async () => {
    const { clock, beats, join, heartbeat } = setup();
    join('a');
    await clock.advance(1_000);
    join('b');
    await clock.advance(5_000);
    expect(beats).toEqual(['[', 'a@3000', 'b@3000', ']', '[', 'a@6000', 'b@6000', ']']);
    heartbeat.stop();
  });

  it('neither drifts when a pulse is late nor makes up for pulses that were missed', async () => {
    const { clock, beats, join, heartbeat } = setup();
    join('a');
    await clock.block(3_400);
    await clock.advance(2_600);
    await clock.block(10_000);
    await clock.advance(4_000);
    expect(beats.filter((beat) => beat.includes('@'))).toEqual(['a@3400', 'a@6000', 'a@16000', 'a@19000']);
    heartbeat.stop();
  });

  it('leaves no timer when nobody is left', async () => {
    const { clock, join } = setup();
    const leave = join('a');
    leave();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10_000);
  });
});
