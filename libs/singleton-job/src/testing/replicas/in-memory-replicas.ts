import { InMemoryLockStore, InMemoryServer, replicaOf } from '../../store/index.js';
import { ManualClock, settle } from '../manual-clock.js';
import { InMemoryReplica, type InMemoryReplicaOptions } from './in-memory-replica.js';

/** Longer than any stop takes. */
const LONG_MS = 3_600_000;
/** A new server counts as one that has lost its data: nobody would take over a job until the longest `lockExpiry` has passed. */
const SERVER_AGE_MS = 86_400_000;

/**
 * Several replicas of an application in one test, on one manual clock and one store in memory: elections, leases, schedules
 * and runs are the real ones, only time, chance and the network are not. Jobs are instances of your classes; Nest is not
 * started.
 */
export class InMemoryReplicas {
  readonly clock: ManualClock;
  /** Where the locks are. `server.loseData()` is a FLUSHALL. */
  readonly server: InMemoryServer;
  readonly #replicas: InMemoryReplica[] = [];

  /** The wall clock starts at `wall`, by which fixed rates and cron go. */
  constructor(wall?: string | number) {
    this.clock = new ManualClock(wall);
    this.server = new InMemoryServer(this.clock);
    this.clock.stepWall(-SERVER_AGE_MS);
    this.server.heartbeat({ sessions: [], knownList: undefined });
    this.clock.stepWall(SERVER_AGE_MS);
  }

  /**
   * Starts a replica with the decorated methods of `hosts`. It contends as soon as the clock is advanced, be it by 0.
   * Give each replica instances of its own, as processes have them, unless they are to share what they count.
   *
   * @throws InvalidOptionsError and InvalidJobsError, as the application would at its start
   */
  start(name: string, hosts: readonly object[], options: InMemoryReplicaOptions = {}): InMemoryReplica {
    const { clock } = this;
    const replica = new InMemoryReplica(name, { clock, store: new InMemoryLockStore(this.server), hosts, options });
    this.#replicas.push(replica);
    return replica;
  }

  /** The replica that has the lock of a job. Undefined: nobody. One that was killed has it until another takes over. */
  leaderOf(job: string): string | undefined {
    const holder = this.server.holderOf(job);
    return holder === undefined ? undefined : replicaOf(holder);
  }

  /** Stops every replica, moving the clock as far as that takes, so that no timer is left. For the end of a test. */
  async end(): Promise<void> {
    const stopped = Promise.all(this.#replicas.map((replica) => replica.stop()));
    await this.clock.advance(LONG_MS);
    await stopped;
    await settle();
  }
}
