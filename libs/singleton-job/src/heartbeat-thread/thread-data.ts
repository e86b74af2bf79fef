import { type MessagePort } from 'node:worker_threads';
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
  /** Receives `HeartbeatThreadState` and {@link PROCESS_ENDS}, sends `HeartbeatThreadReport`. */
  readonly port: MessagePort;
  /** An `Int32Array` of length 1, on which the main thread waits after {@link PROCESS_ENDS}. */
  readonly ended: SharedArrayBuffer;
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
