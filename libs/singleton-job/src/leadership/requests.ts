import { StoreError } from '../base/errors/store.error.js';
import { showDuration } from '../base/text/duration.js';
import { type Timer } from '../base/time/clock.js';
import { type CasRequest, type Store, type SyncRequest, type SyncResult } from '../store/store.js';
import { type LeadershipContext } from './context.js';

/**
 * The requests of a replica. A store of the application, or its client, may never settle one: after the shortest TTL it
 * counts as failed, and an answer that is even later is ignored.
 */
export class Requests {
  /** One for each that was sent and has neither settled nor failed. */
  readonly #limits = new Set<Timer>();

  constructor(
    private readonly context: LeadershipContext,
    private readonly store: Store,
  ) {}

  sync(request: SyncRequest): Promise<SyncResult> {
    return this.#send(async () => this.store.sync(request));
  }

  /** The revisions that were written. */
  compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    // an answer that has not the form of one is a failure too
    return this.#send(async () => [...(await this.store.compareAndSet(request))]);
  }

  /** A failure of a hint is no failure of anything else. */
  publish(names: readonly string[]): void {
    const publish = async (): Promise<void> => this.store.publish?.(names);
    publish().catch(() => undefined);
  }

  #send<T>(request: () => Promise<T>): Promise<T> {
    const { clock, shortestTtlMs } = this.context;
    return new Promise<T>((resolve, reject) => {
      const limit = clock.setTimer(shortestTtlMs, () => {
        this.#limits.delete(limit);
        const error = new StoreError('STORE_UNREACHABLE', `no answer within ${showDuration(shortestTtlMs)}`);
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
