import { Replica } from '../leadership/index.js';
import { type Notify } from '../events/index.js';
import { InMemoryLockStore, InMemoryServer, type LockStore, RedisLockStore } from '../store/index.js';
import { type ResolvedOptions } from '../options/index.js';
import { type Clock, SystemClock } from '../time/index.js';

export interface ReplicaOptions {
  readonly options: ResolvedOptions;
  /** `nodeId` with a random part: this process in holder values and logs. See {@link createReplicaId}. */
  readonly replicaId: string;
  readonly notify: Notify;
  readonly clock?: Clock | undefined;
  readonly store?: LockStore | undefined;
  /** In [0, 1). */
  readonly random?: (() => number) | undefined;
}

/** One process as its elections know it, on the store that the options name. */
export function createReplica(parts: ReplicaOptions): Replica {
  const { options, replicaId: id, notify, random = Math.random, clock = new SystemClock() } = parts;
  const { heartbeatIntervalMs, maxBackoffDelayMs } = options;
  const store = parts.store ?? makeStore(options, clock);
  return new Replica({ id, heartbeatIntervalMs, maxBackoffDelayMs }, { clock, notify, random, store });
}

function makeStore(options: ResolvedOptions, clock: Clock): LockStore {
  const { store, connection, projectName } = options;
  if (store !== undefined && store !== 'memory') return store;
  // without a connection nothing is enabled, and nobody asks
  if (store === 'memory' || connection === undefined) return new InMemoryLockStore(new InMemoryServer(clock));
  return new RedisLockStore({ projectName, connection });
}
