import { afterEach, beforeEach, expect } from '@jest/globals';
import { Fleet } from './fleet.js';

/** A fleet that begins anew for each test of the block, and must leave no timer behind. */
export function useFleet(): Fleet {
  const fleet = new Fleet();
  beforeEach(() => {
    fleet.begin();
  });
  afterEach(async () => {
    await fleet.end();
    expect(fleet.clock.pendingTimers).toBe(0);
  });
  return fleet;
}
