import { FaultyServer } from '../faulty-server.js';
import { ManualClock, settle } from '../manual-clock.js';
import { createTestReplica, type JobsOfReplica, type TestReplica, type TestReplicaOptions } from './test-replica.js';

/** Longer than any stop takes. */
const LONG_MS = 3_600_000;

interface TestReplicasOptions {
  /** What the wall clock shows at the start. */
  readonly wall?: string | number | undefined;
}

/** Several replicas in one process, on one manual clock and one store in memory. */
export class TestReplicas {
  clock = new ManualClock();
  server = new FaultyServer(this.clock);
  #replicas: TestReplica[] = [];

  constructor(options?: TestReplicasOptions) {
    this.begin(options);
  }

  /** Starts again with new clocks and a new server. */
  begin({ wall }: TestReplicasOptions = {}): void {
    this.clock = new ManualClock(wall);
    this.server = new FaultyServer(this.clock);
    this.#replicas = [];
  }

  /** A replica that has started. It competes for its jobs as soon as the clock is advanced, also by 0. */
  start(name: string, jobs: JobsOfReplica, options?: TestReplicaOptions): TestReplica {
    const replica = this.prepare(name, jobs, options);
    replica.pool.start();
    return replica;
  }

  /** A replica that has not started. */
  prepare(name: string, jobs: JobsOfReplica, options: TestReplicaOptions = {}): TestReplica {
    const replica = createTestReplica({ name, time: this.clock, server: this.server }, jobs, options);
    this.#replicas.push(replica);
    return replica;
  }

  /**
   * Resumes and stops every process, so that no timer is left. Moves the clock as far as needed. Resolves to the runs that have not ended.
   */
  async end(): Promise<string[]> {
    const alive = this.#replicas.filter(({ clock }) => !clock.isKilled);
    for (const { clock, thread } of alive) {
      clock.resume();
      thread?.clock.resume();
    }
    const closed = Promise.all(alive.map(({ pool }) => pool.close()));
    await this.clock.advance(LONG_MS);
    await closed;
    await settle();
    return alive.flatMap(({ name, pool }) =>
      pool.jobs.filter(({ runs }) => runs.isBusy).map(({ job }) => `${job.name} of ${name}`),
    );
  }
}
