import { afterEach, beforeEach, expect } from '@jest/globals';
import { TestReplicas } from '../../libs/singleton-job/src/testing/replicas/test-replicas.js';

/** Replicas that begin anew for each test of the block, and must leave no timer behind. */
export function useReplicas(): TestReplicas {
  const replicas = new TestReplicas();
  beforeEach(() => {
    replicas.begin();
  });
  afterEach(async () => {
    await replicas.end();
    expect(replicas.clock.pendingTimers).toBe(0);
  });
  return replicas;
}
