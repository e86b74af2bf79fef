import { deepEqual, ok } from 'node:assert/strict';

/** Checks the fields of `expected`. The result may have others. */
export function includes(actual: object, expected: object): void {
  const all = new Map<string, unknown>(Object.entries(actual));
  deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, all.get(key)])), { ...expected });
}

/** Checks that two results are equal except for their times. An undefined property may be absent. */
export function sameResult(actual: object, expected: object): void {
  deepEqual(lasting(actual), lasting(expected));
}

export function above(actual: number | undefined, limit: number): void {
  ok(actual !== undefined && actual > limit, `${String(actual)} must be above ${String(limit)}`);
}

export function atLeast(actual: number | undefined, limit: number): void {
  ok(actual !== undefined && actual >= limit, `${String(actual)} must be at least ${String(limit)}`);
}

export function atMost(actual: number | undefined, limit: number): void {
  ok(actual !== undefined && actual <= limit, `${String(actual)} must be at most ${String(limit)}`);
}

function lasting(result: object): object {
  const entries = Object.entries(result).filter(([key, value]) => key !== 'storeTime' && value !== undefined);
  return Object.fromEntries(entries);
}
