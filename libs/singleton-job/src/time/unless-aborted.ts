/**
 * The result of `work`, or undefined as soon as `signal` aborts. Rejects when `work` rejects. A rejection after the abort is ignored.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      resolve(undefined);
    };
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work
      .then((value) => {
        resolve({ value });
      }, reject)
      .finally(() => {
        signal.removeEventListener('abort', abort);
      });
  });
}
