import { afterEach, beforeEach, expect } from '@jest/globals';
import { type ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';

interface Replicas {
  readonly clock: ManualClock;
  begin(): void;
  end(): Promise<void>;
}

/** Begins them for each test of the block. They must leave no timer behind. */
export function anewForEachTest<R extends Replicas>(replicas: R): R {
  beforeEach(() => {
    replicas.begin();
  });
  afterEach(async () => {
    await replicas.end();
    expect(replicas.clock.pendingTimers).toBe(0);
  });
  return replicas;
}
