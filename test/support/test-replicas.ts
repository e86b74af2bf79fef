import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { InMemoryReplicas } from '../../libs/singleton-job/src/testing/replicas/in-memory-replicas.js';
import { anewForEachTest } from './anew-for-each-test.js';
import { TestReplica, type TestReplicaOptions } from './test-replica.js';

/** Several replicas in one process, on one manual clock and one store in memory. */
export class TestReplicas {
  #all = new InMemoryReplicas();
  #replicas: TestReplica[] = [];

  get clock() {
    return this.#all.clock;
  }

  get server() {
    return this.#all.server;
  }

  /** Starts again with new clocks and a new server. The wall clock starts at `wall`. */
  begin({ wall }: { readonly wall?: string | number } = {}): void {
    this.#all = new InMemoryReplicas(wall);
    this.#replicas = [];
  }

  /** A replica that has started. It competes for its jobs as soon as the clock is advanced, also by 0. */
  start(name: string, jobs: readonly Job[], options?: TestReplicaOptions): TestReplica {
    const replica = this.prepare(name, jobs, options);
    replica.pool.start();
    return replica;
  }

  /** The replica `a`, which has led these jobs for so long. */
  async leader(jobs: readonly Job[], forMs: number, options?: TestReplicaOptions): Promise<TestReplica> {
    const leader = this.start('a', jobs, options);
    await this.clock.advance(forMs);
    return leader;
  }

  /** The replica `a`, which has led these jobs for so long, and `b`, which follows. */
  async leaderAndFollower(jobs: readonly Job[], forMs: number): Promise<[TestReplica, TestReplica]> {
    const both: [TestReplica, TestReplica] = [this.start('a', jobs), this.start('b', jobs)];
    await this.clock.advance(forMs);
    return both;
  }

  /** Another replica, `b`, which has started so long ago. */
  async another(jobs: readonly Job[], forMs: number): Promise<TestReplica> {
    const another = this.start('b', jobs);
    await this.clock.advance(forMs);
    return another;
  }

  /** A replica that has not started. */
  prepare(name: string, jobs: readonly Job[], options: TestReplicaOptions = {}): TestReplica {
    const replica = this.#all.add(new TestReplica(name, this.#all, options));
    this.#replicas.push(replica);
    for (const job of jobs) replica.pool.add(job);
    return replica;
  }

  /** Resumes and stops every process, so that no timer is left. Moves the clock as far as needed. */
  async end(): Promise<void> {
    for (const { clock } of this.#replicas) clock.resume();
    await this.#all.stopAll();
  }
}

/** Replicas that begin anew for each test of the block, and must leave no timer behind. */
export function useReplicas(): TestReplicas {
  return anewForEachTest(new TestReplicas());
}
