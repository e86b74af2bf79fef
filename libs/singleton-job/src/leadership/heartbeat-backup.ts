import { type HeartbeatReference, type HeartbeatRequest, type SessionId } from '../store/lock-store.js';
import { type Instant } from '../base/time/clock.js';

/** A session as the main thread or the heartbeat thread knows it. */
export interface KeptSession {
  readonly id: SessionId;
  readonly lockExpiryMs: number;
  readonly confirmedEnd: number;
  readonly deadline: Instant;
}

/** The state of the main thread. All times are by its monotonic clock. */
export interface MainThreadState {
  /** When it sent its last heartbeat. */
  readonly sentMs: number;
  readonly intervalMs: number;
  /** The sessions that the store has confirmed and that are not over. */
  readonly sessions: readonly KeptSession[];
  /** The server of the latest answer. If that answer showed that locks may be lost, the leases are already frozen. */
  readonly server: HeartbeatReference;
  /** When the newest answered heartbeat was sent. `server` answered it. */
  readonly answeredSentMs: number;
  /** Up to where the main thread has the list of sessions. The heartbeat thread needs none, but an answer has what changed since then. */
  readonly knownList: HeartbeatRequest['knownList'];
  /** How often the main thread has frozen its leases, because locks may be lost. */
  readonly freezeCount: number;
}

/** The result of one heartbeat of the heartbeat thread. */
export interface BackupReport {
  /** The `freezeCount` of the state that the heartbeat relied on. */
  readonly freezeCount: number;
  readonly sent: Instant;
  readonly answeredMs: number;
  /** The extended sessions, and their ends by the clock of the store. */
  readonly extended: readonly { readonly id: SessionId; readonly end: number }[];
  /** The list of sessions was lost: locks may be lost too. */
  readonly isListedAgain: boolean;
}

/** The heartbeat thread, as the main thread sees it. */
export interface HeartbeatBackup {
  update(state: MainThreadState): void;
  /** The reports since the last call. It works without a turn of the event loop. */
  takeReports(): readonly BackupReport[];
  /** Ends the heartbeats of the thread. */
  close(): Promise<void>;
}
