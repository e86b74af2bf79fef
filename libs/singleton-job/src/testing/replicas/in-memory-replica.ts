import { type JobObserver } from '../../events/index.js';
import { type SingletonJobOptions } from '../../options/index.js';
import { type RecordingObserver } from '../recording-observer.js';
import { type TestReplica } from './test-replica.js';

/** Options of the module that mean something without Nest and without Redis. */
export type InMemoryReplicaOptions = Partial<
  Pick<
    SingletonJobOptions,
    'heartbeatInterval' | 'lockExpiry' | 'shutdownTimeout' | 'timeZone' | 'misfireGrace' | 'jobs'
  >
> & {
  /** Notified of every event, besides the one that records. */
  readonly observers?: readonly JobObserver[] | undefined;
};

/** One replica of the application as far as its jobs go. Made by `InMemoryReplicas.start()`. */
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

  /** What happened here, a line an event: `['0 leadershipGained', '0 runStarted schedule', …]`. */
  get story(): readonly string[] {
    return this.observer.story;
  }

  /**
   * Stops as on SIGTERM: no run starts any more, runs in flight may end, locks are released. Resolves when that is done. The
   * clock must go on for that if a run is in flight.
   */
  stop(): Promise<void> {
    return this.#replica.clock.isKilled ? Promise.resolve() : this.#replica.supervisor.close();
  }

  /**
   * Ends as on SIGKILL: no lock is released, no event is reported. What a job has begun in this test process goes on by
   * itself, and its signal does not fire.
   */
  kill(): void {
    this.#replica.kill();
  }

  /** Cuts the network to the store, in both directions. Runs go on until the lease can no longer be trusted. */
  partition(): void {
    this.#replica.store.partition();
  }

  /** Ends what {@link partition} began. */
  heal(): void {
    this.#replica.store.heal();
  }
}
