import { describe, expect, it } from '@jest/globals';
import { afterRollingRestart } from './rolling-restart.js';

const SEEDS = Number(process.env['ROLLING_RESTARTS'] ?? 20);
const [REPLICAS, JOBS] = [5, 100];

describe('After a rolling restart', () => {
  it(`the fullest replica leads at most twice the average, in ${SEEDS} scenarios`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const led = await afterRollingRestart({ seed, replicas: REPLICAS, jobs: JOBS });
      expect({ seed, led: led.reduce((sum, jobs) => sum + jobs) }).toEqual({ seed, led: JOBS });
      expect({ seed, isEven: Math.max(...led) <= (2 * JOBS) / REPLICAS, led }).toEqual({ seed, isEven: true, led });
    }
  }, 300_000);
});
