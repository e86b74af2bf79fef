/**
 * The program of the heartbeat thread: see the option `heartbeatThread`. It runs only in a thread that the library has started. It does
 * nothing when it is imported elsewhere.
 */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type MainThreadState } from '../leadership/heartbeat-backup.js';
import { type ConnectionOptions, openStore, type ReadConnection } from '../store/open-store.js';
import { SystemClock } from '../base/time/system-clock.js';
import { BackupHeartbeats } from './backup-heartbeats.js';
import {
  HEARTBEAT_THREAD,
  type HeartbeatThreadData,
  monotonicOriginMs,
  PROCESS_ENDS,
  READY,
  type ThreadMessage,
  WANTS_CONNECTION,
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

/** How long to wait for the connection. A main thread that is blocked does not answer: then the last connection has to do. */
const CONNECTION_LIMIT_MS = 250;

/** Asks the main thread for the connection of each client. */
function askMainThread(first: ConnectionOptions): ReadConnection {
  let latest = first;
  parentPort?.on('message', (connection: ConnectionOptions) => {
    latest = connection;
  });
  return async () => {
    parentPort?.postMessage(WANTS_CONNECTION satisfies ThreadMessage);
    if (parentPort !== null) {
      await once(parentPort, 'message', { signal: AbortSignal.timeout(CONNECTION_LIMIT_MS) }).catch(() => undefined);
    }
    return latest;
  };
}

async function run({ store, isReadAnew, originMs, port, ended }: HeartbeatThreadData): Promise<void> {
  const readConnection = isReadAnew ? askMainThread(store.connection) : undefined;
  const heartbeats = new BackupHeartbeats({
    // only the main thread needs messages
    store: await openStore({ ...store, readConnection, subscribes: false }),
    clock: new MainThreadClock(originMs),
    report: (report) => {
      port.postMessage(report);
    },
    reportUnreachable: (error) => {
      parentPort?.postMessage({ unreachable: error.message } satisfies ThreadMessage);
    },
  });
  port.on('message', (message: MainThreadState | typeof PROCESS_ENDS) => {
    if (message !== PROCESS_ENDS) heartbeats.receive(message);
    else
      void heartbeats.endSessions().then(() => {
        wake(ended);
      });
  });
}

function wake(waiting: SharedArrayBuffer): void {
  const cell = new Int32Array(waiting);
  Atomics.store(cell, 0, 1);
  Atomics.notify(cell, 0);
}

const data: unknown = workerData;
if (isOurs(data)) {
  // no await here: CommonJS has none at the top of a module
  void run(data).then(() => {
    parentPort?.postMessage(READY);
  });
}
