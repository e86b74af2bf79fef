import { type Notify } from '../base/events/events.js';
import { type Clock } from '../base/time/clock.js';
import { Heartbeat } from './heartbeat.js';
import { ReplicaLeases } from './lease.js';
import { Outages } from './outages.js';
import { StoreView } from './store-view.js';

/** The thread that sends heartbeats while this one is blocked. */
export interface HeartbeatThreadPort {
  /** Raises the deadlines of leases that it has renewed. It works without a turn of the event loop. */
  takeReports(): void;
  /** Sends it what it is to renew. */
  send(): void;
}

/** What leadership needs from outside. */
export interface ContextParts {
  /** The name of this process in leases: different for each process. */
  readonly id: string;
  /** `lockExpiry` of the module. */
  readonly ttlMs: number;
  readonly heartbeatIntervalMs: number;
  /** For messages, such as `Redis`. */
  readonly storeName: string;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Receives the events of this replica. */
  readonly notify: Notify;
  readonly linkThread?: ((main: LeadershipContext) => HeartbeatThreadPort) | undefined;
}

/**
 * What all of leadership in one process goes by: what it has observed of the store, its leases and its heartbeat. It is
 * made first, and knows nothing of what uses it: what must go up goes by {@link schedulePass} and by events.
 */
export class LeadershipContext {
  readonly id: string;
  readonly ttlMs: number;
  readonly storeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly notify: Notify;
  readonly storeView: StoreView;
  readonly heartbeat: Heartbeat;
  readonly leases: ReplicaLeases;
  readonly heartbeatThread: HeartbeatThreadPort | undefined;
  /** What is wrong with the store. */
  readonly outages: Outages;

  constructor(
    { id, ttlMs, heartbeatIntervalMs, storeName, clock, random, notify, linkThread }: ContextParts,
    /** All is reconciled soon. */
    readonly schedulePass: () => void,
  ) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.storeName = storeName;
    this.clock = clock;
    this.random = random;
    this.notify = notify;
    this.storeView = new StoreView(id, clock);
    this.heartbeat = new Heartbeat(clock, heartbeatIntervalMs, random);
    this.leases = new ReplicaLeases(id, clock, this.heartbeat);
    this.outages = new Outages(clock, notify);
    this.heartbeatThread = linkThread?.(this);
  }

  /** The shortest TTL of the leases in use, and of the module. */
  get shortestTtlMs(): number {
    return Math.min(this.ttlMs, ...this.leases.all.map(({ ttlMs }) => ttlMs));
  }

  /** A sync leaves at once. */
  syncNow(): void {
    this.heartbeat.requestSync();
    this.schedulePass();
  }
}
