import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type JobObserver } from '../../libs/singleton-job/src/events/index.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/index.js';
import { InMemoryLockStore, InMemoryServer } from '../../libs/singleton-job/src/store/index.js';
import { resolveOptions, type SingletonJobOptions } from '../../libs/singleton-job/src/options/index.js';
import {
  type ApplicationReplica,
  createReplica,
  type JobSupervisor,
} from '../../libs/singleton-job/src/replica/index.js';
import { fixedRate } from '../../libs/singleton-job/src/schedule/index.js';
import { ManualClock, RecordingObserver, settle } from '../../libs/singleton-job/src/testing/index.js';
import { FaultyStore } from './faulty-store.js';
import { SkewedClock } from './skewed-clock.js';

const START_MS = Date.UTC(2027, 0, 1);
const SERVER_AGE_MS = 60_000;

/** A job for tests: every second on the grid, unless told otherwise. */
export function job(
  overrides: Partial<Omit<JobDefinition, 'invoke'>> & { readonly run?: (run: JobRun) => unknown } = {},
): JobDefinition {
  const { run = () => undefined, ...definition } = overrides;
  return {
    name: 'tick',
    location: 'Ticks.tick',
    schedule: fixedRate(1_000, { offsetMs: 0 }),
    enabled: true,
    lockExpiryMs: 10_000,
    timeoutMs: undefined,
    warnAfterMs: 8_000,
    overlap: 'skip',
    initialDelayMs: 0,
    misfireGraceMs: 31_000,
    ...definition,
    invoke: run,
  };
}

/** A run that lasts `forMs` by the clock and then succeeds, or stops at once when its signal fires if it is `obedient`. */
export function lasting(clock: ManualClock, forMs: number, { obedient = false } = {}): (run: JobRun) => Promise<void> {
  return (run) =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimer(forMs, resolve);
      run.signal.addEventListener('abort', () => {
        if (!obedient) return;
        timer.cancel();
        reject(run.signal.reason as Error);
      });
    });
}

/** One replica of a fleet: everything real except its clock, its chance and the network to its store. */
export interface FleetReplica extends Pick<ApplicationReplica, 'supervisor' | 'registry' | 'health'> {
  readonly name: string;
  readonly clock: SkewedClock;
  readonly observer: RecordingObserver;
  readonly store: FaultyStore;
  readonly replica: Replica;
  /** The story since it was last asked for. */
  news(): string[];
}

export interface StartOptions {
  /** Decides jitter and back-off; 0 unless told otherwise. */
  readonly random?: () => number;
  readonly options?: Partial<SingletonJobOptions>;
  /** Who is told besides the one that records, and before it. */
  readonly observers?: readonly JobObserver[];
  /** What its network does from the first command on. */
  readonly network?: Partial<Pick<FaultyStore, 'fate' | 'heldBack' | 'delayMs' | 'isSubscribed'>>;
}

/** Several replicas in one process, on one manual clock and one in-memory store. */
export class Fleet {
  clock = new ManualClock();
  server = new InMemoryServer(this.clock);
  #supervisors: JobSupervisor[] = [];

  /**
   * Everything anew. The server was first seen a minute ago. A new server counts as one that has lost its data: in its first
   * `lockExpiry` nobody takes over a job that was led before.
   */
  begin({ isServerNew = false } = {}): void {
    this.clock = new ManualClock(isServerNew ? START_MS : START_MS - SERVER_AGE_MS);
    this.server = new InMemoryServer(this.clock);
    this.#supervisors = [];
    if (isServerNew) return;
    this.server.heartbeat({ sessions: [], knownList: undefined });
    this.clock.stepWall(SERVER_AGE_MS);
  }

  /** A replica that has started. */
  start(name: string, jobs: readonly JobDefinition[], options?: StartOptions): FleetReplica {
    const replica = this.prepare(name, jobs, options);
    replica.supervisor.start();
    return replica;
  }

  /** A replica that has not started. */
  prepare(
    name: string,
    jobs: readonly JobDefinition[],
    { random = () => 0, options = {}, observers = [], network = {} }: StartOptions = {},
  ): FleetReplica {
    const clock = new SkewedClock(this.clock);
    const observer = new RecordingObserver(this.clock);
    const store = Object.assign(new FaultyStore(new InMemoryLockStore(this.server), this.clock), network);
    const resolved = resolveOptions({ projectName: 'test', store, ...options });
    const parts = { id: name, clock, store, random, observers: [...observers, observer] };
    const { leadership: replica, supervisor, registry, health } = createReplica(resolved, parts);
    for (const job of jobs) supervisor.add(job);
    this.#supervisors.push(supervisor);
    let told = 0;
    const news = (): string[] => {
      const { story } = observer;
      const from = told;
      told = story.length;
      return story.slice(from);
    };
    return { name, clock, observer, store, replica, supervisor, registry, health, news };
  }

  /** Stops and closes everything, so that no timer is left; time passes while runs are given up. */
  async end(): Promise<void> {
    const closing = Promise.all(this.#supervisors.map((supervisor) => supervisor.close()));
    await this.clock.advance(600_000);
    await closing;
    await settle();
  }
}
