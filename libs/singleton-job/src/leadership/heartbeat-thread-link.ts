import { isDeepStrictEqual } from 'node:util';
import { type Instant } from '../base/time/clock.js';
import { type LeaseId } from '../store/lease-id.js';
import { type Heartbeat } from './heartbeat.js';
import { type ReplicaLeases } from './lease.js';
import { type StoreView } from './store-view.js';

/** What the heartbeat thread gets: plain data, which is copied. Monotonic times are those of the main thread. */
export interface HeartbeatThreadState {
  /** The `id` of the one that the main thread has seen last. */
  readonly incarnation: string;
  /** When the main thread sent its last sync. */
  readonly sentAt: number;
  readonly intervalMs: number;
  /** Only those that the store knows in this incarnation can be renewed. */
  readonly leases: readonly { readonly id: LeaseId; readonly deadline: Instant }[];
}

/** The heartbeat thread has renewed a lease: a request that was sent at `sent` is confirmed. */
export interface HeartbeatThreadReport {
  readonly incarnation: string;
  readonly id: LeaseId;
  readonly sent: Instant;
}

/** The heartbeat thread, as the main thread sees it. */
export interface HeartbeatThreadPort {
  /** Called when the state has changed. */
  update(state: HeartbeatThreadState): void;
  /** The reports since the last call. It works without a pass of the event loop. */
  takeReports(): readonly HeartbeatThreadReport[];
  close(): Promise<void>;
}

/** Sends the heartbeat thread what to renew, and raises deadlines by what it has renewed. */
export class HeartbeatThreadLink {
  /** What the thread got last: it gets again only what differs. */
  #sent: HeartbeatThreadState | undefined;

  constructor(
    private readonly thread: HeartbeatThreadPort,
    /** What the main thread knows. */
    private readonly main: {
      readonly storeView: StoreView;
      readonly leases: ReplicaLeases;
      readonly heartbeat: Heartbeat;
    },
  ) {}

  /** The deadline of a lease may be later than the main thread knows. */
  takeReports(): void {
    const { storeView, leases } = this.main;
    for (const { incarnation, id, sent } of this.thread.takeReports()) {
      if (incarnation === storeView.incarnation.id) leases.find(id)?.extend(sent);
    }
  }

  send(): void {
    const { storeView, leases, heartbeat } = this.main;
    if (storeView.isEmpty) return;
    const { sentAt, intervalMs } = heartbeat;
    const confirmed = leases.all.flatMap(({ id, deadline }) => (deadline === undefined ? [] : { id, deadline }));
    const state = { incarnation: storeView.incarnation.id, sentAt, intervalMs, leases: confirmed };
    if (isDeepStrictEqual(state, this.#sent)) return;
    this.#sent = state;
    this.thread.update(state);
  }
}
