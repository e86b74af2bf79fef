import { type Clock } from './clock.js';
import { sleep } from './sleep.js';

/** Resolves when `work` resolves, after `limitMs` at the latest. Rejects if `work` rejects before that. */
export async function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  try {
    await Promise.race([work, sleep(clock, limitMs, settled.signal)]);
  } finally {
    settled.abort();
  }
}
