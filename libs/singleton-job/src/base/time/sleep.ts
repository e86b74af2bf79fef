import { setMaxListeners } from 'node:events';
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

/** Resolves when `work` resolves, after `limitMs` at the latest. Rejects if `work` rejects before that. */
export async function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  try {
    await Promise.race([work, sleep(clock, limitMs, settled.signal)]);
  } finally {
    settled.abort();
  }
}

/** Calls `act` when `signal` aborts, now if it has aborted already, until the returned function is called. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  signal.addEventListener('abort', act);
  if (signal.aborted) act();
  return signal.removeEventListener.bind(signal, 'abort', act);
}

/** An `AbortController` that many things may wait for at once: Node 20 warns about a leak otherwise. */
export function abortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
