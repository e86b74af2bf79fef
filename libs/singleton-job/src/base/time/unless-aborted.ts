import { onAbort } from './on-abort.js';

/**
 * The result of `work`, or undefined as soon as `signal` aborts. Rejects when `work` rejects. A rejection after the abort is ignored.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const remove = onAbort(signal, () => {
      resolve(undefined);
    });
    work
      .then((value) => {
        resolve({ value });
      }, reject)
      .finally(remove);
  });
}
