import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type Notify } from '../base/events/events.js';
import { heartbeatThreadFailed } from '../base/events/warnings.js';
import { type StoreOptions } from '../store/open-store.js';
import { programFile } from './program-file.js';
import {
  HEARTBEAT_THREAD,
  type HeartbeatThreadData,
  type HeartbeatThreadReport,
  type HeartbeatThreadState,
  PROCESS_ENDS,
  READY,
  type ThreadMessage,
  WANTS_CONNECTION,
} from './thread-data.js';

/** How long to wait for `ready`: a wrong file may never send it. */
const START_LIMIT_MS = 30_000;
/** How long a process that ends waits for the thread: a store that is away must not hold it up for longer. */
const EXIT_WAIT_MS = 200;

const BUNDLE_FIX =
  'in a bundle, emit nestjs-singleton-job/heartbeat-thread as a file of its own and name it in heartbeatThread: { workerFile }';

interface HeartbeatThreadParts {
  /** Where the main thread has its leases. */
  readonly storeOptions: Omit<StoreOptions, 'subscribes'>;
  /** The option `heartbeatThread`. */
  readonly options: { readonly workerFile?: string | URL };
  /** Whether the thread ends the leases when the process ends by itself: the option `crashHandover`. */
  readonly crashHandover: boolean;
  /** Called when the process ends: no run starts from now on. */
  readonly expireLeases: () => void;
  readonly notify: Notify;
}

/** The worker thread that sends heartbeats while this one is blocked: see `HeartbeatThreadSender`. */
export class HeartbeatThread {
  readonly #channel = new MessageChannel();
  readonly #ended = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  /** Undefined: it has not started, or is over. */
  #worker: Worker | undefined;

  constructor(private readonly parts: HeartbeatThreadParts) {}

  /**
   * Starts the thread, which does not wait for the store.
   *
   * @throws InvalidOptionsError if its file cannot be run
   */
  async start(): Promise<void> {
    const { readConnection, ...storeOptions } = this.parts.storeOptions;
    const { workerFile = programFile() } = this.parts.options;
    const { port2: port } = this.#channel;
    const isReadAnew = readConnection !== undefined;
    const data: HeartbeatThreadData = { kind: HEARTBEAT_THREAD, storeOptions, isReadAnew, port, ended: this.#ended };
    try {
      const file = asUrlOrPath(workerFile);
      const worker = new Worker(file, { workerData: data, transferList: [port], name: 'singleton-job heartbeats' });
      this.#worker = worker;
      const ready = untilReady(worker);
      this.#listenTo(worker, ready);
      await ready;
      // the thread does not keep the process alive
      worker.unref();
      // before the other listeners, because one that throws keeps the later ones from being called
      if (this.parts.crashHandover) process.prependListener('exit', this.#onExit);
    } catch (error: unknown) {
      await this.close();
      const isNotFound = /^(ERR_)?MODULE_NOT_FOUND$/.test(String(Reflect.get(Object(error), 'code')));
      const fix = isNotFound ? `: ${BUNDLE_FIX}` : '';
      const problem = `heartbeatThread could not start '${String(workerFile)}': ${messageOf(error)}${fix}`;
      throw new InvalidOptionsError([problem], { cause: error });
    }
  }

  /** Called when the state has changed. */
  update(state: HeartbeatThreadState): void {
    this.#channel.port1.postMessage(state);
  }

  /** The reports since the last call. It works without a turn of the event loop. */
  takeReports(): readonly HeartbeatThreadReport[] {
    const reports: HeartbeatThreadReport[] = [];
    // messages that have arrived can be read although the event loop has not turned since the block
    const next = (): { readonly message: HeartbeatThreadReport } | undefined =>
      receiveMessageOnPort(this.#channel.port1);
    for (let report = next(); report !== undefined; report = next()) reports.push(report.message);
    return reports;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    process.removeListener('exit', this.#onExit);
    this.#channel.port1.close();
    await worker?.terminate();
  }

  /**
   * Hands the jobs over when the process ends by itself: after an uncaught exception, an unhandled rejection, or
   * `process.exit()`.
   *
   * In the `exit` event nothing asynchronous of the main thread runs any more, so no run of a job does. The thread
   * still works: it ends the leases in the store while the main thread waits. A signal without a handler,
   * `process.abort()` and an exhausted heap have no `exit` event. Then the leases end by themselves.
   *
   * A process may survive its `exit` event: a later listener throws out of `process.exit()`, and the caller catches
   * that. So its own leases end too: no run starts from now on, and those in flight are aborted in the next turn of the
   * event loop.
   */
  readonly #onExit = (): void => {
    // Some code emits 'exit' by hand, in a process that lives on. Node sets this field before it emits the event.
    if (Reflect.get(process, '_exiting') === false) return;
    this.parts.expireLeases();
    this.#channel.port1.postMessage(PROCESS_ENDS);
    Atomics.wait(new Int32Array(this.#ended), 0, 0, EXIT_WAIT_MS);
  };

  /** A thread that ends while the main thread is busy is ready, fails and ends in one turn of the event loop. */
  #listenTo(worker: Worker, ready: Promise<void>): void {
    const { notify, storeOptions } = this.parts;
    let isReported = false;
    const failed = (error: unknown): void => {
      if (!isReported && this.#worker === worker) notify('warning', heartbeatThreadFailed(error));
      isReported = true;
    };
    // where it was never ready, the start fails
    const onceReady = (act: () => void): void => void ready.then(act, () => undefined);
    worker.on('message', (message: ThreadMessage) => {
      if (typeof message === 'object') failed(new Error(message.unreachable));
      if (message !== WANTS_CONNECTION) return;
      // after a failure the thread goes on with the last connection, and says so if that does not work
      void storeOptions
        .readConnection?.()
        .then(worker.postMessage.bind(worker))
        .catch(() => undefined);
    });
    worker.on('error', (error) => {
      onceReady(failed.bind(undefined, error));
    });
    worker.on('exit', (code) => {
      onceReady(() => {
        failed(new Error(`the thread ended with code ${code}`));
        process.removeListener('exit', this.#onExit);
        this.#worker = undefined;
      });
    });
  }
}

function asUrlOrPath(file: string | URL | undefined): string | URL {
  if (file === undefined)
    throw Object.assign(new Error('this copy of the library has no path'), { code: 'MODULE_NOT_FOUND' });
  if (typeof file !== 'string') return file;
  return file.startsWith('file:') ? new URL(file) : resolve(file);
}

async function untilReady(worker: Worker): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const problem = await Promise.race([
    // rejects with an error of the thread
    once(worker, 'message', { signal }).then(([message]) => (message === READY ? undefined : 'it is another program')),
    once(worker, 'exit', { signal }).then(([code]) => `it ended with code ${String(code)} before it was ready`),
    delay(START_LIMIT_MS, `it was not ready within ${START_LIMIT_MS / 1_000} s`, { signal }),
  ]).finally(ending.abort.bind(ending));
  if (problem !== undefined) throw new Error(problem);
}
