import { StoreError } from '../base/errors/store.error.js';
import { showDuration } from '../base/text/duration.js';
import { type Clock, type Timer } from '../base/time/clock.js';

/**
 * The requests of a replica. A store of the application, or its client, may never settle one: then it counts as failed,
 * and an answer that is even later is ignored.
 */
export class Requests {
  /** One for each that was sent and has neither settled nor failed. */
  readonly #limits = new Set<Timer>();

  constructor(private readonly clock: Clock) {}

  /** Resolves to the answer. Rejects if the request does, or if it has not settled after `limitMs`. */
  send<T>(limitMs: number, request: () => Promise<T>): Promise<T> {
    const { clock } = this;
    return new Promise<T>((resolve, reject) => {
      const limit = clock.setTimer(limitMs, () => {
        this.#limits.delete(limit);
        const error = new StoreError('STORE_UNREACHABLE', `no answer within ${showDuration(limitMs)}`);
        // an answer that has arrived while the event loop was blocked counts
        void clock.afterIo().then(reject.bind(undefined, error));
      });
      this.#limits.add(limit);
      const settled = (): void => {
        limit.cancel();
        this.#limits.delete(limit);
      };
      request().finally(settled).then(resolve, reject);
    });
  }

  /** No request fails any more. */
  close(): void {
    for (const limit of this.#limits) limit.cancel();
  }
}
