import { type Bid, type Grant, type Holder, type LockStore, type Refusal } from '../../store/index.js';

/** Long enough that nothing expires while a test runs. */
export const LONG_MS = 600_000;

export function bidOf(holder: Holder, overrides: Partial<Bid> = {}): Bid {
  return {
    name: 'price-tick',
    holder,
    lockExpiryMs: LONG_MS,
    schedule: 'every second',
    seenToken: 0,
    seenLast: 0,
    ...overrides,
  };
}

export async function granted(store: LockStore, bid: Bid): Promise<Grant> {
  const answer = await store.acquire(bid);
  if (!answer.granted) throw new Error(`'${bid.holder}' was refused: '${answer.holder}' holds the lock`);
  return answer;
}

export async function refused(store: LockStore, bid: Bid): Promise<Refusal> {
  const answer = await store.acquire(bid);
  if (answer.granted) throw new Error(`'${bid.holder}' was granted the lock`);
  return answer;
}

/** Waits for a condition, generously: what it waits for is promised, how fast this machine is at the moment is not. */
export async function eventually<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  limitMs = 20_000,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (performance.now() > giveUpAt) throw new Error(`waited ${String(limitMs)} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
