import { describe, expect, it } from '@jest/globals';
import { reconnectDelayMs } from './reconnect-delay.js';

const REPLICAS = 50;

describe('The delay before a new connection', () => {
  it('grows from 0.25 to 0.5 s with each failed attempt', () => {
    const delays = [0, 1, 2, 3, 4, 2_000].map((failures) => Math.round(reconnectDelayMs(failures, () => 0)));
    expect(delays).toEqual([250, 350, 490, 500, 500, 500]);
  });

  it('is longer by a random part of up to 0.2 s, so never above 0.7 s', () => {
    expect(reconnectDelayMs(0, () => 0.5)).toBe(350);
    for (let failures = 0; failures < 2_000; failures += 7) {
      expect(reconnectDelayMs(failures, () => 0.999_999)).toBeLessThan(700);
    }
  });

  it.each([1_000, 3_000, 10_000, 60_000])('spreads 50 replicas over an outage of %i ms', (outageMs) => {
    const returns = Array.from({ length: REPLICAS }, (_, seed) => returnAfter(outageMs, seeded(seed)));
    // evenly spread over 0.7 s it would be seven
    expect(mostWithin(100, returns)).toBeLessThan(REPLICAS / 2);
    expect(Math.max(...returns) - outageMs).toBeLessThan(700);
  });
});

/** When a replica connects that lost its connection at 0, if connections are refused at once until the end of the outage. */
function returnAfter(outageMs: number, random: () => number): number {
  let nowMs = 0;
  for (let failures = 0; nowMs < outageMs; failures += 1) nowMs += reconnectDelayMs(failures, random);
  return nowMs;
}

function mostWithin(windowMs: number, times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + windowMs).length));
}

/** Random numbers that are the same every time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
