import { type Clock } from './clock.js';

/** Resolves after `delayMs`, or as soon as one of the signals aborts. The caller checks them. */
export function sleep(clock: Clock, delayMs: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(delayMs, done);
    for (const signal of signals) signal.addEventListener('abort', done);
  });
}
