import { eventMethodsOfInstances, exploreInstances } from '../explore-instances.js';
import { leaseOf, replicaOf } from '../../leadership/record.js';
import { type ManualClock } from '../manual-clock.js';
import { type FaultyServer } from '../faulty-server.js';
import { InMemoryReplica, type InMemoryReplicaOptions } from './in-memory-replica.js';
import { TestReplicas } from './test-replicas.js';

/**
 * Several replicas of an application in one test, on one manual clock and one store in memory. Elections, leases, schedules
 * and runs are the real ones. Time, random numbers and the network are not. Jobs are instances of your classes. Nest is not
 * started.
 */
export class InMemoryReplicas {
  readonly #replicas: TestReplicas;

  /** The wall clock starts at `wall`. Fixed rates and cron go by it. */
  constructor(wall?: string | number) {
    this.#replicas = new TestReplicas({ wall });
  }

  /** The clock of all replicas and of the server. */
  get clock(): ManualClock {
    return this.#replicas.clock;
  }

  /** The server with the leases and records. `server.loseData()` loses them all. */
  get server(): FaultyServer {
    return this.#replicas.server;
  }

  /**
   * Starts a replica with the decorated methods of `instances`, those with `@OnJobEvent` too. It competes for its jobs as soon as the clock is advanced, also by 0. Give
   * each replica its own instances, as in separate processes, unless they should share data.
   *
   * @throws InvalidOptionsError and InvalidJobsError, as an application does at its start
   */
  start(name: string, instances: readonly object[], options: InMemoryReplicaOptions = {}): InMemoryReplica {
    const { observers: extra = [], ...given } = options;
    const observers = [...extra, ...eventMethodsOfInstances(instances)];
    const jobs: Parameters<TestReplicas['start']>[1] = (replica) => exploreInstances(instances, replica.options);
    return new InMemoryReplica(this.#replicas.start(name, jobs, { observers, options: given }));
  }

  /** The replica that has the lock of a job. Undefined: none. A killed replica has it until another one takes over. */
  leaderOf(job: string): string | undefined {
    const holder = this.server.holderOf(job);
    return holder === undefined ? undefined : replicaOf(leaseOf(holder));
  }

  /**
   * Stops every replica, and moves the clock as far as needed. No timer is left. Call it at the end of a test. A run that has not ended then
   * is a warning of the process: it may wait for a real timer, which this clock does not move.
   */
  async end(): Promise<void> {
    const unended = await this.#replicas.end();
    if (unended.length === 0) return;
    const why = 'They may wait for real timers or I/O, which the clock of this test does not move';
    process.emitWarning(`runs have not ended: ${unended.join(', ')}. ${why}`, 'SingletonJobWarning');
  }
}
