import { type JobObserver } from '../../base/events/observer.js';
import { type SingletonJobOptions } from '../../options/singleton-job.options.js';
import { type RecordingObserver } from '../recording-observer.js';
import { type TestReplica } from './test-replica.js';

/** The options of the module that have an effect without Nest and a server. */
export type InMemoryReplicaOptions = Partial<
  Pick<
    SingletonJobOptions,
    'heartbeatInterval' | 'lockExpiry' | 'shutdownTimeout' | 'timeZone' | 'misfireGrace' | 'jobs'
  >
> & {
  /** Get every event, in addition to the recording observer. */
  readonly observers?: readonly JobObserver[] | undefined;
};

/** One replica of the application, with its jobs only. Created by `InMemoryReplicas.start()`. */
export class InMemoryReplica {
  readonly #replica: TestReplica;

  constructor(replica: TestReplica) {
    this.#replica = replica;
  }

  /** Its name, as given to `start()`. */
  get name(): string {
    return this.#replica.name;
  }

  /** Every event of this replica, until it is killed. */
  get observer(): RecordingObserver {
    return this.#replica.observer;
  }

  /** One line for each event: `['0 leadershipGained', '0 runStarted schedule', …]`. */
  get eventLines(): readonly string[] {
    return this.observer.eventLines;
  }

  /**
   * Stops as on SIGTERM: no run starts, runs in flight may end, locks are released. Resolves when that is done. If a run is in flight,
   * advance the clock meanwhile.
   */
  stop(): Promise<void> {
    return this.#replica.clock.isKilled ? Promise.resolve() : this.#replica.pool.close();
  }

  /**
   * Ends as on SIGKILL: no lock is released and no event is sent. A run in flight continues in this test process, and its signal does not
   * fire.
   */
  kill(): void {
    this.#replica.kill();
  }

  /** Cuts the network to the store, in both directions. Runs go on until the lease is no longer valid. */
  partition(): void {
    this.#replica.store.partition();
  }

  /** Ends what {@link partition} began. */
  heal(): void {
    this.#replica.store.heal();
  }
}
