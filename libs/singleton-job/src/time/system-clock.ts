import { performance } from 'node:perf_hooks';
import { type Clock, type Timer } from './clock.js';

/** `setTimeout` fires at once when asked for more than this. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export class SystemClock implements Clock {
  now(): number {
    return performance.now();
  }

  wallNow(): number {
    return Date.now();
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    let handle: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      const sliceMs = Math.min(Math.max(Math.ceil(remainingMs), 0), LONGEST_TIMEOUT_MS);
      handle = setTimeout(() => {
        if (remainingMs > sliceMs) arm(remainingMs - sliceMs);
        else fire();
      }, sliceMs);
    };
    arm(delayMs);
    return {
      cancel: () => {
        clearTimeout(handle);
      },
    };
  }

  afterIo(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
