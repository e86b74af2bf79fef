import { type MessagePort } from 'node:worker_threads';
import { type StoreOptions } from '../store/open-store.js';

/** What the heartbeat thread gets at its start. It sends `ready` and {@link ThreadMessage} to its parent port, and all else to `port`. */
export interface HeartbeatThreadData {
  /** Distinguishes this thread from others that load the same file. */
  readonly kind: typeof HEARTBEAT_THREAD;
  /** Where the main thread has its sessions. */
  readonly store: Pick<StoreOptions, 'projectName' | 'connection' | 'schema' | 'migrate'>;
  /** Whether the thread asks the main thread for the connection of each client: see {@link WANTS_CONNECTION}. */
  readonly isReadAnew: boolean;
  /** {@link monotonicOriginMs} of the main thread. */
  readonly originMs: number;
  /** Receives `MainThreadState` and {@link PROCESS_ENDS}, sends `BackupReport`. */
  readonly port: MessagePort;
  /** An `Int32Array` of length 1, on which the main thread waits after {@link PROCESS_ENDS}. */
  readonly ended: SharedArrayBuffer;
}

export const HEARTBEAT_THREAD = 'nestjs-singleton-job:heartbeat-thread';
export const READY = 'ready';

/** The main thread is in its `exit` event: the thread ends the sessions, and then wakes the main thread. */
export const PROCESS_ENDS = 'process ends';

/** The main thread posts the connection to the thread, which has no function to call. */
export const WANTS_CONNECTION = 'wants connection';

/** `unreachable`: the thread has no connection to the store, though the main thread has one. */
export type ThreadMessage = typeof WANTS_CONNECTION | { readonly unreachable: string };

const READINGS = 10;

/**
 * When `performance.now()` of this thread was 0, by the monotonic clock that all threads share. An interrupt between the two readings
 * makes their difference too small. The largest of several differences is right to a microsecond.
 */
export function monotonicOriginMs(): number {
  let originMs = -Infinity;
  for (let reading = 0; reading < READINGS; reading++) {
    originMs = Math.max(originMs, Number(process.hrtime.bigint()) / 1e6 - performance.now());
  }
  return originMs;
}
