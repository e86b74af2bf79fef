import { replicaOf } from '../../store/lease-id.js';
import { exploreInstances } from '../explore-instances.js';
import { FaultyServer } from '../faulty-server.js';
import { ManualClock, settle } from '../manual-clock.js';
import { RecordingObserver } from '../recording-observer.js';
import { InMemoryReplica, type InMemoryReplicaOptions } from './in-memory-replica.js';
import { NetworkStore } from './network-store.js';
import { ProcessClock } from './process-clock.js';

/** Longer than any stop takes. */
const LONG_MS = 3_600_000;

/**
 * Several replicas of an application in one test, on one manual clock and one store in memory. Elections, leases,
 * schedules and runs are the real ones. Time, random numbers and the network are not. Jobs are instances of your
 * classes. Nest is not started.
 *
 * @see docs/testing.md#several-replicas
 */
export class InMemoryReplicas {
  /** The clock of all replicas and of the server. */
  readonly clock: ManualClock = new ManualClock(this.wall);
  /** The server with the leases and records. `server.loseData()` loses them all. */
  readonly server: FaultyServer = new FaultyServer(this.clock);
  readonly #replicas: InMemoryReplica[] = [];

  /** The wall clock starts at `wall`. Fixed rates and cron go by it. */
  constructor(private readonly wall?: string | number) {}

  /**
   * Starts a replica with the decorated methods of `instances`, those with `@OnJobEvent` too. It competes for its jobs
   * as soon as the clock is advanced, also by 0. Give each replica its own instances, as in separate processes, unless
   * they should share data.
   *
   * @throws InvalidOptionsError and InvalidJobsError, as an application does at its start
   */
  start(name: string, instances: readonly object[], options: InMemoryReplicaOptions = {}): InMemoryReplica {
    const clock = new ProcessClock(this.clock);
    const store = new NetworkStore(this.server, clock);
    const replica = this.add(
      new InMemoryReplica(name, { observer: new RecordingObserver(this.clock), clock, store, options }),
    );
    const { jobs, observers } = exploreInstances(instances, replica.options);
    replica.services.observers.push(...observers);
    for (const job of jobs) replica.services.pool.add(job);
    replica.services.pool.start();
    return replica;
  }

  /** @internal */
  add<R extends InMemoryReplica>(replica: R): R {
    this.#replicas.push(replica);
    return replica;
  }

  /** The replica that leads a job. Undefined: none. A killed replica leads it until another one takes over. */
  leaderOf(job: string): string | undefined {
    const holder = this.server.holderOf(job);
    return holder === undefined ? undefined : replicaOf(holder);
  }

  /**
   * Stops every replica, and moves the clock as far as needed. No timer is left. Call it at the end of a test. A run
   * that has not ended then is a warning of the process: it may wait for a real timer, which this clock does not move.
   */
  async end(): Promise<void> {
    const unended = await this.stopAll();
    if (unended.length === 0) return;
    const why =
      'They may wait for I/O or for timers such as those of node:timers/promises, which the clock of this test does ' +
      'not move. Let them wait by run.sleep()';
    process.emitWarning(`runs have not ended: ${unended.join(', ')}. ${why}`, 'SingletonJobWarning');
  }

  /** Resolves to the runs that have not ended. @internal */
  async stopAll(): Promise<string[]> {
    const alive = this.#replicas.filter(({ parts }) => !parts.clock.isKilled);
    const stopped = Promise.all(alive.map((replica) => replica.stop()));
    await this.clock.advance(LONG_MS);
    await stopped;
    await settle();
    return alive.flatMap(({ name, services: { pool } }) =>
      pool.jobs.filter(({ runs }) => runs.isBusy).map(({ job }) => `${job.name} of ${name}`),
    );
  }
}
