/**
 * The program of the heartbeat thread: see the option `heartbeatThread`. It runs only in a thread that the library has
 * started. It does nothing when it is imported elsewhere.
 */
import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { SystemClock } from '../base/time/system-clock.js';
import { type ConnectionOptions, openStore, type ReadConnection } from '../store/open-store.js';
import { HeartbeatThreadSender } from './heartbeat-thread-sender.js';
import {
  HEARTBEAT_THREAD,
  type HeartbeatThreadData,
  type HeartbeatThreadState,
  PROCESS_ENDS,
  READY,
  type ThreadMessage,
  WANTS_CONNECTION,
} from './thread-data.js';

/**
 * How long to wait for the connection. A main thread that is blocked does not answer: then the last connection has to
 * do.
 */
const CONNECTION_LIMIT_MS = 250;

/** Asks the main thread for the connection of each client. */
function askMainThread(main: MessagePort, first: ConnectionOptions): ReadConnection {
  let latest = first;
  main.on('message', (connection: ConnectionOptions) => (latest = connection));
  return async () => {
    main.postMessage(WANTS_CONNECTION satisfies ThreadMessage);
    await once(main, 'message', { signal: AbortSignal.timeout(CONNECTION_LIMIT_MS) }).catch(() => undefined);
    return latest;
  };
}

async function run({ storeOptions, isReadAnew, port, ended }: HeartbeatThreadData, main: MessagePort): Promise<void> {
  const readConnection = isReadAnew ? askMainThread(main, storeOptions.connection) : undefined;
  const heartbeats = new HeartbeatThreadSender({
    // only the main thread needs messages
    store: await openStore({ ...storeOptions, readConnection, subscribes: false }),
    clock: new SystemClock(),
    report: port.postMessage.bind(port),
    reportUnreachable: ({ message }) => {
      main.postMessage({ unreachable: message } satisfies ThreadMessage);
    },
  });
  const wakeMainThread = (): void => {
    Atomics.store(new Int32Array(ended), 0, 1);
    Atomics.notify(new Int32Array(ended), 0);
  };
  port.on('message', (message: HeartbeatThreadState | typeof PROCESS_ENDS) => {
    if (message === PROCESS_ENDS) void heartbeats.endLeases().then(wakeMainThread);
    else heartbeats.receive(message);
  });
  main.postMessage(READY satisfies ThreadMessage);
}

const data = workerData as HeartbeatThreadData | null | undefined;
// no await here: CommonJS has none at the top of a module
if (data?.kind === HEARTBEAT_THREAD && parentPort !== null) void run(data, parentPort);
