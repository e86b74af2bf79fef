import { type JobObserver } from '../../libs/singleton-job/src/base/events/observer.js';
import { type RunInterceptor } from '../../libs/singleton-job/src/base/events/run-interceptor.js';
import { type SingletonJobOptions } from '../../libs/singleton-job/src/options/singleton-job.options.js';
import { RecordingObserver } from '../../libs/singleton-job/src/testing/recording-observer.js';
import { InMemoryReplica } from '../../libs/singleton-job/src/testing/replicas/in-memory-replica.js';
import { type InMemoryReplicas } from '../../libs/singleton-job/src/testing/replicas/in-memory-replicas.js';
import { FaultyStore } from './faulty-store.js';
import { HaltingClock } from './halting-clock.js';

export interface TestReplicaOptions {
  /** For jitter and back-off. */
  readonly random?: () => number;
  readonly options?: Partial<SingletonJobOptions>;
  readonly observers?: readonly JobObserver[];
  readonly interceptors?: readonly RunInterceptor[];
}

/** A replica in memory that can be halted, on a network with faults. */
export class TestReplica extends InMemoryReplica {
  readonly clock: HaltingClock;
  readonly store: FaultyStore;
  readonly replica = this.services.replica;
  readonly pool = this.services.pool;
  readonly registry = this.services.registry;
  readonly health = this.services.health;
  readonly #server: InMemoryReplicas['server'];

  constructor(
    name: string,
    { clock: time, server }: Pick<InMemoryReplicas, 'clock' | 'server'>,
    { options = {}, observers = [], interceptors = [], ...rest }: TestReplicaOptions,
  ) {
    const clock = new HaltingClock(time);
    const store = new FaultyStore(server, clock);
    const observer = new RecordingObserver(time);
    super(name, { ...rest, observer, clock, store, options: { ...options, observers } });
    this.clock = clock;
    this.store = store;
    this.#server = server;
    this.services.interceptors.push(...interceptors);
  }

  /** Ends its process as an uncaught exception does: its heartbeat thread ends the leases. */
  crash(): void {
    this.kill();
    const revoke = this.replica.context.leases.all.map(({ id }) => id);
    this.#server.sync({ isNewcomer: false, renew: [], grant: [], revoke, read: [] });
    for (const store of this.#server.stores) store.deliver('*');
  }
}
