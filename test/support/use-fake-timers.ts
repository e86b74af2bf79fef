import { afterEach, beforeEach, expect, jest } from '@jest/globals';

/** Fake timers for each test of the block, which must leave no timer behind. */
export function useFakeTimers(): void {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
}
