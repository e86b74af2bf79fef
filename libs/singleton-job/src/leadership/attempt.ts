import { asLockStoreError, LockStoreError } from '../errors/index.js';
import { type Clock } from '../time/index.js';

/**
 * Sends one command and waits at most `deadlineMs` for the answer. Rejects with a {@link LockStoreError} when there is
 * none: then the command may still be carried out, and its late answer still reaches whoever listens inside `send`.
 */
export function attempt<T>(clock: Clock, deadlineMs: number, send: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(deadlineMs, () => {
      // after a blocked event loop timers come first: the answer may be waiting to be read
      void clock.afterIo().then(() => {
        reject(new LockStoreError('STORE_UNREACHABLE', `no answer within ${Math.round(deadlineMs)} ms`));
      });
    });
    const answered = (): void => {
      timer.cancel();
    };
    const fail = (error: unknown): void => {
      answered();
      reject(asLockStoreError(error));
    };
    try {
      send().then((answer) => {
        answered();
        resolve(answer);
      }, fail);
    } catch (error: unknown) {
      fail(error);
    }
  });
}

/** The same, but rejects when `signal` aborts: whoever would have answered is gone. */
export function untilAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new LockStoreError('STORE_UNREACHABLE', 'nobody waits for the answer any more'));
    };
    signal.addEventListener('abort', abort);
    const settled = (): void => {
      signal.removeEventListener('abort', abort);
    };
    answer.then(resolve, reject);
    answer.then(settled, settled);
  });
}
