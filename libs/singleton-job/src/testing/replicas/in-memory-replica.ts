import { exploreInstances } from '../../discovery/index.js';
import { type JobObserver } from '../../events/index.js';
import { type LockStore } from '../../store/index.js';
import { resolveOptions, type SingletonJobOptions } from '../../options/index.js';
import { type ApplicationReplica, createReplica } from '../../replica/index.js';
import { type Clock } from '../../time/index.js';
import { RecordingObserver } from '../recording-observer.js';
import { KillableClock } from './killable-clock.js';
import { PartitionableStore } from './partitionable-store.js';

/** Options of the module that mean something without Nest and without Redis. */
export type InMemoryReplicaOptions = Partial<
  Pick<
    SingletonJobOptions,
    'heartbeatInterval' | 'lockExpiry' | 'shutdownTimeout' | 'timeZone' | 'misfireGrace' | 'jobs'
  >
> & {
  /** Told of every event, besides the one that records. */
  readonly observers?: readonly JobObserver[];
};

interface Parts {
  readonly clock: Clock;
  readonly store: LockStore;
  readonly hosts: readonly object[];
  readonly options: InMemoryReplicaOptions;
}

/** One replica of the application as far as its jobs go. Made by `InMemoryReplicas.start()`. */
export class InMemoryReplica {
  /** Every event of this replica, until it is killed. */
  readonly observer: RecordingObserver;
  readonly #clock: KillableClock;
  readonly #store: PartitionableStore;
  readonly #replica: ApplicationReplica;
  #isKilled = false;

  constructor(
    readonly name: string,
    { clock, store, hosts, options: { observers = [], ...given } }: Parts,
  ) {
    this.observer = new RecordingObserver(clock);
    this.#clock = new KillableClock(clock);
    this.#store = new PartitionableStore(store);
    const options = resolveOptions({ projectName: 'test', store: this.#store, ...given });
    this.#replica = createReplica(options, {
      id: name,
      clock: this.#clock,
      store: this.#store,
      // no jitter: the same story every time
      random: () => 0,
      observers: [this.observer, ...observers],
    });
    for (const job of exploreInstances(hosts, options)) this.#replica.supervisor.add(job);
    this.#replica.supervisor.start();
  }

  /** What happened here, a line an event: `['0 leadershipGained', '0 runStarted schedule', …]`. */
  get story(): readonly string[] {
    return this.observer.story;
  }

  /**
   * Stops as on SIGTERM: nothing starts any more, runs in flight may end, locks are given back. Resolves when that is done,
   * for which the clock must go on if a run is in flight.
   */
  stop(): Promise<void> {
    return this.#isKilled ? Promise.resolve() : this.#replica.supervisor.close();
  }

  /**
   * Ends as on SIGKILL: nothing is given back, nothing is told. What a job has begun in this test process goes on by
   * itself, and its signal does not fire.
   */
  kill(): void {
    this.#isKilled = true;
    this.#store.cut();
    this.#clock.kill();
    this.#replica.observers.length = 0;
  }

  /** Cuts the connection to the store, in both directions. Runs go on until the lease can no longer be trusted. */
  cutOff(): void {
    this.#store.cut();
  }

  /** Ends what {@link cutOff} began. */
  reconnect(): void {
    if (!this.#isKilled) this.#store.mend();
  }
}
