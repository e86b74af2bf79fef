import { type MessagePort } from 'node:worker_threads';
import { type RedisConnectionOptions } from '../store/index.js';

/** What the heartbeat thread is given. It says `ready`, and {@link Unreachable}, on its parent port. Everything else goes over `port`. */
export interface HeartbeatThreadData {
  /** Tells this thread from others that load the same file. */
  readonly kind: typeof HEARTBEAT_THREAD;
  readonly projectName: string;
  readonly connection: RedisConnectionOptions;
  /** See {@link monotonicOriginMs}, of the main thread. */
  readonly originMs: number;
  /** Takes `MainThreadState`, gives `BackupReport`. */
  readonly port: MessagePort;
}

export const HEARTBEAT_THREAD = 'nestjs-singleton-job:heartbeat-thread';
export const READY = 'ready';

/** The thread has no connection to Redis, though the main thread has one. */
export interface Unreachable {
  readonly unreachable: string;
}

const READINGS = 10;

/**
 * When `performance.now()` of this thread was 0, by the monotonic clock that all threads share. Each of two readings may be interrupted,
 * which makes the difference too small: the largest of some is right to a microsecond.
 */
export function monotonicOriginMs(): number {
  let originMs = -Infinity;
  for (let reading = 0; reading < READINGS; reading++) {
    originMs = Math.max(originMs, Number(process.hrtime.bigint()) / 1e6 - performance.now());
  }
  return originMs;
}
