import { isDeepStrictEqual } from 'node:util';
import { type Instant } from '../base/time/clock.js';
import { type LeaseId } from '../store/lease-id.js';
import { type Replica } from './replica.js';

/** What the heartbeat thread is told: plain data, which is copied. Monotonic times are those of the main thread. */
export interface BackupState {
  /** The `id` of the one that the main thread has seen last. */
  readonly incarnation: string;
  /** When the main thread sent its last sync. */
  readonly sentAt: number;
  readonly intervalMs: number;
  /** Only those that the store knows in this incarnation can be renewed. */
  readonly leases: readonly { readonly id: LeaseId; readonly deadline: Instant }[];
}

/** The heartbeat thread has renewed a lease: a request that was sent at `sent` is confirmed. */
export interface BackupReport {
  readonly incarnation: string;
  readonly id: LeaseId;
  readonly sent: Instant;
}

/** The heartbeat thread, as the main thread sees it. */
export interface HeartbeatBackup {
  /** Called when a sync leaves, and when it is answered. */
  update(state: BackupState): void;
  /** The reports since the last call. It works without a turn of the event loop. */
  takeReports(): readonly BackupReport[];
  close(): Promise<void>;
}

/** Tells the heartbeat thread what to renew, and raises deadlines by what it has renewed. */
export class BackupLink {
  /** What the thread was told last: it is told again only what differs. */
  #sent: BackupState | undefined;

  constructor(
    private readonly backup: HeartbeatBackup,
    private readonly replica: Replica,
  ) {}

  /** The deadline of a lease may be later than the main thread knows. */
  takeReports(): void {
    const { view, leases } = this.replica;
    for (const { incarnation, id, sent } of this.backup.takeReports()) {
      if (incarnation === view.incarnation.id) leases.find(id)?.extend(sent);
    }
  }

  send(): void {
    const { view, leases, heartbeat } = this.replica;
    if (view.isEmpty) return;
    const { sentAt, intervalMs } = heartbeat;
    const confirmed = leases.all.flatMap(({ id, deadline }) => (deadline === undefined ? [] : { id, deadline }));
    const state = { incarnation: view.incarnation.id, sentAt, intervalMs, leases: confirmed };
    if (isDeepStrictEqual(state, this.#sent)) return;
    this.#sent = state;
    this.backup.update(state);
  }
}
