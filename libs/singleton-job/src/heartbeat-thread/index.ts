/**
 * The program of the heartbeat thread: see the option `heartbeatThread`. It runs only in a thread that the library has started. It does
 * nothing when it is imported elsewhere.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type MainThreadState } from '../leadership/heartbeat-backup.js';
import { RedisLockStore } from '../store/redis/redis-lock-store.js';
import { SystemClock } from '../base/time/system-clock.js';
import { BackupHeartbeats } from './backup-heartbeats.js';
import {
  HEARTBEAT_THREAD,
  type HeartbeatThreadData,
  monotonicOriginMs,
  READY,
  type Unreachable,
} from './thread-data.js';

/** The clock of the main thread: `performance.now()` begins at 0 in each thread. */
class MainThreadClock extends SystemClock {
  readonly #aheadMs: number;

  constructor(originMs: number) {
    super();
    this.#aheadMs = monotonicOriginMs() - originMs;
  }

  override now(): number {
    return super.now() + this.#aheadMs;
  }
}

function isOurs(data: unknown): data is HeartbeatThreadData {
  return typeof data === 'object' && data !== null && Reflect.get(data, 'kind') === HEARTBEAT_THREAD;
}

function run({ projectName, connection, originMs, port }: HeartbeatThreadData): void {
  const heartbeats = new BackupHeartbeats({
    // only the main thread needs messages
    store: new RedisLockStore({ projectName, connection, subscribes: false }),
    clock: new MainThreadClock(originMs),
    report: (report) => {
      port.postMessage(report);
    },
    reportUnreachable: (error) => {
      parentPort?.postMessage({ unreachable: error.message } satisfies Unreachable);
    },
  });
  port.on('message', (state: MainThreadState) => {
    heartbeats.receive(state);
  });
}

const data: unknown = workerData;
if (isOurs(data)) {
  run(data);
  parentPort?.postMessage(READY);
}
