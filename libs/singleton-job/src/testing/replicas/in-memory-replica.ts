import { createServices, type Services } from '../../create-services.js';
import { type LogSink } from '../../log/operator-log.js';
import { type ResolvedOptions, resolveOptions } from '../../options/resolve-options.js';
import { type SingletonJobOptions } from '../../options/singleton-job.options.js';
import { type RecordingObserver } from '../recording-observer.js';
import { type NetworkStore } from './network-store.js';
import { type ProcessClock } from './process-clock.js';

/** The options of the module that have an effect without Nest and a server. */
export type InMemoryReplicaOptions = Partial<
  Pick<
    SingletonJobOptions,
    'heartbeatInterval' | 'lockExpiry' | 'shutdownTimeout' | 'timeZone' | 'misfireGrace' | 'jobs' | 'observers'
  >
>;

interface ReplicaParts {
  readonly observer: RecordingObserver;
  readonly clock: ProcessClock;
  readonly store: NetworkStore;
  readonly options: Partial<SingletonJobOptions>;
  /** For jitter and back-off. 0 by default, so that each test is the same every time. */
  readonly random?: () => number;
  /** @default no log */
  readonly log?: LogSink;
}

/**
 * One replica of the application, with its jobs only. Created by `InMemoryReplicas.start()`. Everything is real except
 * its clock, its random numbers and its network.
 */
export class InMemoryReplica {
  /** Every event of this replica, until it is killed. */
  readonly observer: RecordingObserver = this.parts.observer;
  /** @internal */
  readonly options: ResolvedOptions;
  /** @internal */
  readonly services: Services;

  /** @internal */
  constructor(
    /** Its name, as given to `start()`. */
    readonly name: string,
    /** @internal */
    readonly parts: ReplicaParts,
  ) {
    const { options, store } = parts;
    const observers = [...(options.observers ?? []), this.observer];
    // not the environment of the test run, which may have switched the jobs of the application off
    this.options = resolveOptions({ projectName: 'test', store, ...options, observers }, {}, name);
    this.services = createServices(this.options, { random: () => 0, ...parts, id: name });
  }

  /** One line for each event: `['0 leadershipGained', '0 runStarted schedule', …]`. */
  get eventLines(): readonly string[] {
    return this.observer.eventLines;
  }

  /**
   * Stops as on SIGTERM: no run starts, runs in flight may end, jobs are released. Resolves when that is done. If a
   * run is in flight, advance the clock meanwhile.
   */
  async stop(): Promise<void> {
    if (!this.parts.clock.isKilled) await this.services.pool.close();
  }

  /**
   * Ends as on SIGKILL: no job is released and no event is sent. A run in flight continues in this test process, and
   * its signal does not fire.
   */
  kill(): void {
    this.parts.clock.kill();
    // what a killed process does before its turn is over reaches no observer
    this.services.observers.splice(0);
  }

  /** Closes the connection to the store, and lets no other be made. Runs go on until the lease is no longer valid. */
  partition(): void {
    this.parts.store.partition();
  }

  /** Ends what {@link partition} began. */
  heal(): void {
    this.parts.store.heal();
  }
}
