import { describe, expect, it } from '@jest/globals';
import { job, lasting } from '../../../../test/support/fleet.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { interval } from '../schedule/index.js';

describe('The loop watch', () => {
  const fleet = useFleet();

  it('reports a blocked event loop with how long it stood still and which jobs ran', async () => {
    const slow = job({ name: 'slow', schedule: interval(60_000), run: lasting(fleet.clock, 2_000) });
    const idle = job({ name: 'idle', schedule: interval(60_000) });
    const a = fleet.start('a', [slow, idle]);
    await fleet.clock.advance(1_500);
    await fleet.clock.block(5_000);
    const [blocked] = a.observer.of('eventLoopBlocked');
    expect(blocked?.jobs).toEqual(['slow']);
    expect(blocked?.blockedMs).toBeGreaterThanOrEqual(4_000);
    expect(blocked?.blockedMs).toBeLessThanOrEqual(5_000);
  });

  it('says nothing of a loop that stood still for less than a second', async () => {
    const a = fleet.start('a', [job()]);
    await fleet.clock.advance(1_000);
    await fleet.clock.block(1_200);
    expect(a.observer.of('eventLoopBlocked')).toEqual([]);
  });
});
