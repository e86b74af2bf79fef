/**
 * What `work` resolves to, or undefined as soon as `signal` aborts. Rejects as `work` does. A rejection after the abort is
 * dropped.
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
