import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { InMemoryLockStore, InMemoryServer } from '../../libs/singleton-job/src/store/index.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/index.js';
import { createReplica, type JobSupervisor } from '../../libs/singleton-job/src/replica/index.js';
import { RecordingObserver } from '../../libs/singleton-job/src/testing/index.js';
import { ProcessClock } from '../simulation/process-clock.js';
import { World } from '../simulation/world.js';
import { FaultyStore } from './faulty-store.js';
import { HostStore } from './host-store.js';

const SERVER_AGE_MS = 60_000;

/** One replica on a host of its own. */
export interface Host {
  readonly name: string;
  /** What its process sees of the time; it can stand still and go on. */
  readonly clock: ProcessClock;
  /** Decides the fate of its requests. */
  readonly network: FaultyStore;
  /** Its events, in true time. */
  readonly observer: RecordingObserver;
  readonly supervisor: JobSupervisor;
  /** Ends its process as SIGKILL does: it reports, sends and receives nothing any more, and none of its timers fires. */
  kill(): void;
}

/**
 * Replicas of which each has a host of its own, that can be killed at any step, stand still, and sleep. Everything else is
 * as in a {@link Fleet}: the real supervisor, an in-memory store with a right clock, and a network without delay.
 */
export class Hosts {
  readonly #world = new World();
  /** A clock that is right. */
  readonly trueTime = new ProcessClock(this.#world, { aheadMs: 0, rate: 1 });
  readonly server = new InMemoryServer(this.trueTime);

  /** The server was first seen a minute ago: see {@link Fleet.begin}. */
  constructor() {
    this.trueTime.stepWall(-SERVER_AGE_MS);
    this.server.heartbeat({ sessions: [], knownList: undefined });
    this.trueTime.stepWall(SERVER_AGE_MS);
  }

  /** Lets time pass. */
  pass(forMs: number): Promise<void> {
    return this.#world.passUntil(this.#world.nowMs + forMs);
  }

  /** `rate` is how many milliseconds of its clocks pass in one of true time. */
  start(name: string, jobsOf: (clock: ProcessClock) => readonly JobDefinition[], { rate = 1 } = {}): Host {
    const clock = new ProcessClock(this.#world, { aheadMs: 0, rate });
    const observer = new RecordingObserver(this.trueTime);
    const network = new FaultyStore(new InMemoryLockStore(this.server), this.trueTime);
    const store = new HostStore(network, clock);
    const parts = { id: name, clock, store, random: () => 0, observers: [observer] };
    const { supervisor, observers } = createReplica(resolveOptions({ projectName: 'test', store }), parts);
    for (const job of jobsOf(clock)) supervisor.add(job);
    supervisor.start();
    const kill = (): void => {
      clock.end();
      store.cutOff();
      // what a killed process does before its turn is over nobody sees
      observers.length = 0;
    };
    return { name, clock, network, observer, supervisor, kill };
  }
}
