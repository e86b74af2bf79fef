import { describe, expect, it } from '@jest/globals';
import { drawPlan } from './draw-plan.js';
import { leaderBoundMs } from './leader-bounds.js';
import { type Fault, type Plan, type Version } from './plan.js';

const expiry = (ms: number): Version['lockExpiryMs'] => ({ grid: ms, pause: ms, cron: ms, feed: ms });
const CLOCK = { aheadMs: 0, rate: 1 };

/** All replicas of the first version are replaced at 1 s. */
function planWith(faults: readonly Fault[], lockExpiryMs = expiry(10_000), next = lockExpiryMs): Plan {
  const plan = drawPlan(1);
  const { version } = plan.setting;
  const rollOut = [0, 1].map((place): Fault => ({ kind: 'stop', atMs: 1_000, place, downForMs: 10, clock: CLOCK }));
  return {
    ...plan,
    clocks: [CLOCK, CLOCK],
    setting: {
      ...plan.setting,
      heartbeatIntervalMs: 1_000,
      shutdownTimeoutMs: 8_000,
      ignoringSignal: 0,
      rebalance: undefined,
      version: { ...version, lockExpiryMs },
      next: { ...version, lockExpiryMs: next },
      rollOutMs: 1_000,
      rollBackMs: Infinity,
    },
    faults: [...rollOut, ...faults],
  };
}

describe('The longest time without a leader', () => {
  it('is about one lockExpiry', () => {
    const boundMs = leaderBoundMs(planWith([]), 'grid', 500);
    expect(boundMs).toBeGreaterThan(10_000);
    expect(boundMs).toBeLessThan(17_000);
  });

  it('counts the lockExpiry of an old version until its leases have ended', () => {
    const plan = planWith([], expiry(60_000), expiry(800));
    expect(leaderBoundMs(plan, 'grid', 30_000)).toBeGreaterThan(60_000);
    expect(leaderBoundMs(plan, 'grid', 90_000)).toBeLessThan(8_000);
  });

  it('is the life of a lock after a fault that loses its session', () => {
    const plan = planWith([{ kind: 'sessions-deleted', atMs: 2_000 }]);
    expect(leaderBoundMs(plan, 'grid', 1_999)).toBeLessThan(17_000);
    expect(leaderBoundMs(plan, 'grid', 2_000)).toBeGreaterThan(35_000);
  });

  it.each([-120_000, 60_000])('does not grow when the clock of the store is set by %i ms', (byMs) => {
    const plan = planWith([{ kind: 'store-clock-step', atMs: 2_000, byMs }]);
    expect(leaderBoundMs(plan, 'grid', 2_000)).toBe(leaderBoundMs(planWith([]), 'grid', 2_000));
  });
});
