const FIRST_MS = 250;
const GROWTH = 1.4;
const LONGEST_MS = 500;
const JITTER_MS = 200;

/**
 * How long to wait before the next connection: 0.25 to 0.45 s, growing to 0.5 to 0.7 s. `failures` counts the earlier failures since
 * a connection worked. `random` is in [0, 1).
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  return Math.min(FIRST_MS * GROWTH ** failures, LONGEST_MS) + JITTER_MS * random();
}
