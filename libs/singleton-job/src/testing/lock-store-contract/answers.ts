import { deepEqual, ok } from 'node:assert/strict';

/** The answer has what `expected` names; what it does not name may be anything. */
export function answers(actual: object, expected: object): void {
  const all = new Map<string, unknown>(Object.entries(actual));
  deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, all.get(key)])), { ...expected });
}

/** The same answer, whenever it was given. A property that is undefined may as well be absent. */
export function sameAnswer(actual: object, expected: object): void {
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

function lasting(answer: object): object {
  const entries = Object.entries(answer).filter(([key, value]) => key !== 'time' && value !== undefined);
  return Object.fromEntries(entries);
}
