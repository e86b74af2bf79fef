import { type MessagePort } from 'node:worker_threads';
import { type Instant } from '../base/time/clock.js';
import { type LeaseId } from '../store/lease-id.js';
import { type StoreOptions } from '../store/open-store.js';

/**
 * What the heartbeat thread gets at its start. It sends {@link ThreadMessage}s to its parent port, and all else to
 * `port`.
 */
export interface HeartbeatThreadData {
  /** Distinguishes this thread from others that load the same file. */
  readonly kind: typeof HEARTBEAT_THREAD;
  /** Where the main thread has its leases. */
  readonly storeOptions: Omit<StoreOptions, 'readConnection' | 'subscribes'>;
  /** Whether the thread asks the main thread for the connection of each client: see {@link WANTS_CONNECTION}. */
  readonly isReadAnew: boolean;
  /** Receives {@link HeartbeatThreadState} and {@link PROCESS_ENDS}, sends {@link HeartbeatThreadReport}. */
  readonly port: MessagePort;
  /** An `Int32Array` of length 1, on which the main thread waits after {@link PROCESS_ENDS}. */
  readonly ended: SharedArrayBuffer;
}

/** What to renew: plain data, which is copied. Monotonic times are those of the main thread. */
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

export const HEARTBEAT_THREAD = 'nestjs-singleton-job:heartbeat-thread';
export const READY = 'ready';

/** The main thread is in its `exit` event: the thread ends the leases, and then wakes the main thread. */
export const PROCESS_ENDS = 'process ends';

/** The main thread posts the connection to the thread, which has no function to call. */
export const WANTS_CONNECTION = 'wants connection';

/**
 * {@link READY} comes first. `unreachable`: the thread has no connection to the store, though the main thread has one.
 */
export type ThreadMessage = typeof READY | typeof WANTS_CONNECTION | { readonly unreachable: string };
