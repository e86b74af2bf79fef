import { type Notify } from '../events/index.js';
import { type BackoffPolicy, type Clock } from '../time/index.js';
import { type StoreClient } from './store-client/store-client.js';

/** What every part of a replica needs. */
export interface ReplicaContext {
  /** `nodeId-random`: the readable name of this process in holders and sessions. */
  readonly id: string;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly notify: Notify;
  readonly client: StoreClient;
  readonly settings: BackoffPolicy;
  /** Aborts when the replica closes: leases end, and nothing new begins. */
  readonly closing: AbortSignal;
}
