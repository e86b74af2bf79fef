import { describe, expect, it, jest } from '@jest/globals';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type Notify } from '../base/events/events.js';
import { SystemClock } from '../base/time/system-clock.js';
import { interval } from '../schedule/interval.js';
import { Monitor } from './monitor.js';

describe('The monitor', () => {
  const replicas = useReplicas();

  it('reports how long the event loop was blocked, and which jobs ran', async () => {
    const slow = job({ name: 'slow', schedule: interval(60_000), run: lasting(replicas.clock, 2_000) });
    const idle = job({ name: 'idle', schedule: interval(60_000) });
    const a = await replicas.leader([slow, idle], 1_500);
    await replicas.clock.block(5_000);
    const [blocked] = a.observer.of('eventLoopBlocked');
    expect(blocked?.jobs).toEqual(['slow']);
    // for all observers
    expect(Object.isFrozen(blocked?.jobs)).toBe(true);
    expect(blocked?.blockedMs).toBeGreaterThanOrEqual(4_000);
    expect(blocked?.blockedMs).toBeLessThanOrEqual(5_000);
  });

  it('reports once, at the end of a term that comes before its timer, so that the log has the cause', () => {
    const timers: (() => void)[] = [];
    const clock = new SystemClock();
    const now = jest.spyOn(clock, 'now').mockReturnValue(0);
    jest.spyOn(clock, 'setTimer').mockImplementation((_delayMs, fire) => {
      timers.push(fire);
      return { cancel: () => undefined };
    });
    const notify = jest.fn<Notify>();
    const monitor = new Monitor(
      clock,
      notify,
      () => [],
      () => clock.now() / 2,
    );
    const ends: (() => void)[] = [];
    for (let term = 0; term < 2; term++) monitor.watch({ whenOver: (act) => ends.push(act) });
    now.mockReturnValue(12_000);
    ends[0]?.();
    expect(notify.mock.calls).toEqual([['eventLoopBlocked', { blockedMs: 11_750, cpuMs: 6_000, jobs: [] }]]);
    timers[0]?.();
    now.mockReturnValue(24_000);
    ends[1]?.();
    expect(notify).toHaveBeenCalledTimes(1);
  });
});
