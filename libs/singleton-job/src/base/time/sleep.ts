import { type Clock } from './clock.js';

/** Resolves after `delayMs`, or as soon as `signal` aborts. The caller checks the signal. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(delayMs, done);
    signal.addEventListener('abort', done);
  });
}
