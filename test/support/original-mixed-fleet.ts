import { Redis } from 'ioredis';
import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type LockStore, ownerOf, RedisLockStore } from '../../libs/singleton-job/src/lock/index.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/index.js';
import { JobSupervisor, nameReplica } from '../../libs/singleton-job/src/runner/index.js';
import { RecordingObserver } from '../../libs/singleton-job/src/testing/index.js';
import { SystemClock } from '../../libs/singleton-job/src/time/index.js';
import { FaultyStore } from './faulty-store.js';
import { job } from './fleet.js';
import { type RecordedRun } from './history.js';
import { type OriginalParts, OriginalReplica } from './original-replica.js';
import { originalRedis, unlessCut } from './original-server.js';
import { SkewedClock } from './skewed-clock.js';

export const PROJECT = 'myapp';
const RUN_MS = 20;

export interface MixedRun extends RecordedRun {
  readonly scheduledAt: number;
}

/** One replica of ours: everything real, with a say over its network and its wall clock. */
export interface OurReplica {
  readonly clock: SkewedClock;
  readonly supervisor: JobSupervisor;
  readonly store: FaultyStore;
  readonly observer: RecordingObserver;
  /** When, by Redis, it was last told that a foreign holder has the lock; 0 if never. */
  lastSight(): number;
}

/** One node of the original. */
export interface TheirNode extends OriginalReplica {
  /** Redis is out of its reach from now on: every call fails at once. */
  cutOff(): void;
}

export interface Timing {
  readonly heartbeatIntervalMs: number;
  readonly lockExpiryMs: number;
}

type OurJob = Partial<Omit<JobDefinition, 'invoke'>>;
type TheirJob = Pick<OriginalParts, 'version' | 'schedule'> & Partial<OriginalParts>;

/** Replicas of ours and nodes of the original in one process, on one real Redis, with all their runs in one time. */
export class MixedFleet {
  readonly runs: MixedRun[] = [];
  readonly #clock = new SystemClock();
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(
    private readonly url: string,
    private readonly timing: Timing,
  ) {}

  ours(nodeId: string, overrides: OurJob): OurReplica {
    const { lockExpiryMs } = this.timing;
    const redis = new RedisLockStore({
      projectName: PROJECT,
      connection: this.url,
    });
    const sights: number[] = [];
    const store = new FaultyStore(sightsOf(redis, sights), this.#clock);
    const observer = new RecordingObserver(this.#clock);
    const clock = new SkewedClock(this.#clock);
    const replicaId = nameReplica(nodeId);
    const run = ({ job, scheduledAt, fencingToken }: JobRun): Promise<void> =>
      this.#run({ job, node: nodeId, fencingToken, scheduledAt: scheduledAt.getTime() });
    const supervisor = new JobSupervisor({
      options: resolveOptions({ projectName: PROJECT, store, ...read(this.timing) }),
      jobs: [job({ lockExpiryMs, ...overrides, run })],
      replicaId,
      notify: observer.notify,
      clock,
      store,
    });
    this.#ends.push(() => supervisor.close());
    supervisor.start();
    return { clock, supervisor, store, observer, lastSight: () => sights.at(-1) ?? 0 };
  }

  original(nodeId: string, parts: TheirJob): TheirNode {
    const client = new Redis(this.url, { commandTimeout: 5_000, maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    let isCut = false;
    const replica = new OriginalReplica({
      server: unlessCut(() => isCut, originalRedis(client)),
      clock: this.#clock,
      random: Math.random,
      project: PROJECT,
      job: 'tick',
      nodeId,
      run: ({ job, scheduledAt }) =>
        this.#run({ job, node: nodeId, fencingToken: 0, scheduledAt: scheduledAt.getTime() }),
      ...this.timing,
      ...parts,
    });
    this.#ends.push(async () => {
      await replica.stop();
      client.disconnect();
    });
    replica.start();
    return Object.assign(replica, { cutOff: () => void (isCut = true) });
  }

  /** The runs of one replica. */
  runsOf(nodeId: string): MixedRun[] {
    return this.runs.filter(({ node }) => node === nodeId);
  }

  /** The runs of all replicas of ours: those of the original have no fencing token. */
  get runsOfOurs(): MixedRun[] {
    return this.runs.filter(({ fencingToken }) => fencingToken > 0);
  }

  async end(): Promise<void> {
    await Promise.all(this.#ends.splice(0).map((end) => end()));
  }

  async #run(begun: Omit<MixedRun, 'startedAtMs' | 'endedAtMs'>): Promise<void> {
    const startedAtMs = performance.now();
    const index = this.runs.push({ ...begun, startedAtMs, endedAtMs: Infinity }) - 1;
    await new Promise((resolve) => setTimeout(resolve, RUN_MS));
    this.runs[index] = { ...begun, startedAtMs, endedAtMs: performance.now() };
  }
}

function read({ heartbeatIntervalMs, lockExpiryMs }: Timing) {
  return { heartbeatInterval: heartbeatIntervalMs, lockExpiry: lockExpiryMs };
}

/** The store, noting each refusal by a holder that is no replica of ours. */
function sightsOf(store: RedisLockStore, sights: number[]): LockStore {
  const acquire: LockStore['acquire'] = async (bid) => {
    const answer = await store.acquire(bid);
    if (!answer.granted && ownerOf(answer.holder) === undefined) sights.push(answer.time);
    return answer;
  };
  return new Proxy<LockStore>(store, {
    get: (target, key) => {
      if (key === 'acquire') return acquire;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
