import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.js';

const POLICY = { heartbeatIntervalMs: 3_000 };

describe('The back-off delay', () => {
  it('doubles with each failure, from one heartbeat', () => {
    expect([0, 1, 2, 3].map((failures) => backoffMs(failures, POLICY, () => 0.5))).toEqual([
      3_000, 6_000, 12_000, 24_000,
    ]);
  });

  it('varies by a fifth either way', () => {
    expect(backoffMs(1, POLICY, () => 0)).toBeCloseTo(4_800);
    expect(backoffMs(1, POLICY, () => 0.999_999)).toBeCloseTo(7_200, 0);
  });

  it('never exceeds its ceiling, with any jitter and number of failures', () => {
    for (let failures = 0; failures < 2_000; failures += 7) {
      expect(backoffMs(failures, POLICY, () => 0.999_999)).toBeLessThanOrEqual(30_000);
    }
    expect(backoffMs(2_000, POLICY, () => 0)).toBeGreaterThan(20_000);
  });
});
