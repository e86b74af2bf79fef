import { randomBytes } from 'node:crypto';
import { type JobObserver, notifyAll } from './base/events/observer.js';
import { type RunInterceptor } from './base/events/run-interceptor.js';
import { type Clock } from './base/time/clock.js';
import { InProcessClock, SystemClock } from './base/time/system-clock.js';
import { fakeTimersHint } from './control/fake-timers-hint.js';
import { SingletonJobRegistry } from './control/job-registry.js';
import { JobStatistics } from './control/job-statistics.js';
import { SingletonJobHealth } from './control/singleton-job-health.js';
import { HeartbeatThreadLink, type ThreadEnd } from './heartbeat-thread/heartbeat-thread-link.js';
import { HeartbeatThread } from './heartbeat-thread/heartbeat-thread.js';
import { type LeadershipContext } from './leadership/context.js';
import { Replica } from './leadership/replica.js';
import { LockService } from './locks/lock.service.js';
import { type LogSink, operatorLog } from './log/operator-log.js';
import { describeStore } from './options/connection/describe-connection.js';
import { type ResolvedOptions } from './options/resolve-options.js';
import { JobPool } from './runs/job-pool.js';
import { MemoryServer, MemoryStore } from './store/memory.js';
import { openStore, type StoreOptions } from './store/open-store.js';
import { type Store } from './store/store.js';

/** The parts that the module adds, and that a test replaces. */
interface ServiceParts {
  /** See {@link createStore}. */
  readonly store: Store;
  /** @default `nodeId` with a random part: see {@link createReplicaId} */
  readonly id?: string;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** @default no log */
  readonly log?: LogSink;
  /** @default the heartbeat thread, if the options want one */
  readonly heartbeatThread?: ThreadEnd | undefined;
}

/** The services of one process of the application. Jobs and `LockService` share its store and its connections. */
export type Services = ReturnType<typeof createServices>;

/** Injects the services of this application. */
export const SERVICES = Symbol('the services of SingletonJobModule');

/**
 * Puts the services of one process together. A function that names a later part is called when all exist. Connects when
 * the first job starts, or a lock, an action or an overview is requested.
 */
export function createServices(options: ResolvedOptions, parts: ServiceParts) {
  const { projectName, heartbeatIntervalMs, lockExpiryMs } = options;
  const ownClock = options.store === 'memory' ? new InProcessClock() : new SystemClock();
  const { id = createReplicaId(options.nodeId), clock = ownClock, random = Math.random, log, store } = parts;
  const statistics = new JobStatistics();
  const address = options.store === undefined ? describeStore(options) : undefined;
  const isInThisProcess = (replica: string): boolean => replicaIds.includes(replica);
  const hasHeartbeatThread = options.heartbeatThread !== undefined;
  const logged = { projectName, node: id, store: store.name, address, isInThisProcess, hasHeartbeatThread };
  const logging = log === undefined ? [] : [operatorLog(logged, log)];
  // others are added later, and get every event after that
  const observers: JobObserver[] = [...options.observers];
  const own: JobObserver[] = [statistics, ...logging];
  const notify = notifyAll(observers, own);
  if (options.store === 'memory') own.push(fakeTimersHint(notify));
  // those that are added later wrap each run that starts after that
  const interceptors: RunInterceptor[] = [];
  const server = serverOf(options);
  const { enabled, heartbeatThread: threadOptions, crashHandover } = options;
  const expireLeases = (): void => {
    replica.expireAll();
  };
  // it is started before the jobs
  const ownThread =
    enabled && server !== undefined && threadOptions !== undefined
      ? new HeartbeatThread({ notify, expireLeases, storeOptions: server, options: threadOptions, crashHandover })
      : undefined;
  const { heartbeatThread = ownThread } = parts;
  const linkThread = heartbeatThread && ((main: LeadershipContext) => new HeartbeatThreadLink(heartbeatThread, main));
  const timing = { ttlMs: lockExpiryMs, heartbeatIntervalMs };
  const replica: Replica = new Replica({ store, clock, random, id, ...timing, notify, linkThread });
  store.addListener(replica);
  const pool: JobPool = new JobPool(options, { clock, replica, notify, interceptors });
  const registry = new SingletonJobRegistry(options, pool, replica, statistics);
  const health = new SingletonJobHealth(options, pool, replica);
  const locks = new LockService({ options, replica });
  return { replica, pool, registry, health, locks, heartbeatThread: ownThread, observers, interceptors };
}

/** So many replicas of this process are remembered, also of earlier applications. A test may start thousands. */
const MAX_REPLICA_IDS = 10;
let replicaIds: readonly string[] = [];

/** The `nodeId` with a random part, which is different for each process. */
export function createReplicaId(nodeId: string): string {
  const id = `${nodeId}-${randomBytes(4).toString('hex')}`;
  replicaIds = [...replicaIds, id].slice(-MAX_REPLICA_IDS);
  return id;
}

/**
 * The store of the options.
 *
 * @throws InvalidOptionsError if the package of its client is not installed
 */
export async function createStore(options: ResolvedOptions): Promise<Store> {
  const { store } = options;
  if (store !== undefined && store !== 'memory') return store;
  const server = serverOf(options);
  // without a connection nothing is enabled, and nothing uses the store
  if (store === 'memory' || server === undefined) return new MemoryStore(new MemoryServer(new SystemClock()));
  return openStore(server);
}

/** Undefined: there is no connection. */
function serverOf(options: ResolvedOptions): Omit<StoreOptions, 'subscribes'> | undefined {
  const { projectName, connection, readConnection, schema, migrate, lockExpiryMs: minTtlMs } = options;
  if (connection === undefined) return undefined;
  return { projectName, connection, readConnection, schema, migrate, minTtlMs };
}
