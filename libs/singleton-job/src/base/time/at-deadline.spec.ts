import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../testing/manual-clock.js';
import { atDeadline } from './at-deadline.js';

function setup() {
  const clock = new ManualClock();
  const passed: number[] = [];
  const deadline = { ms: 100 };
  const timer = atDeadline(
    clock,
    () => deadline.ms - clock.now(),
    () => passed.push(clock.now()),
  );
  return { clock, deadline, passed, timer };
}

describe('A timer at a deadline', () => {
  it('fires at the latest deadline, once', async () => {
    const { clock, deadline, passed } = setup();
    deadline.ms = 250;
    await clock.advance(120);
    deadline.ms = 300;
    await clock.advance(1_000);
    expect(passed).toEqual([300]);
  });

  it('can be cancelled also after the deadline has moved', async () => {
    const { clock, deadline, passed, timer } = setup();
    deadline.ms = 250;
    await clock.advance(120);
    timer.cancel();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1_000);
    expect(passed).toEqual([]);
  });
});
