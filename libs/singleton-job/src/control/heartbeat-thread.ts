import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type Notify } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { heartbeatThreadFailed } from '../base/events/warnings.js';
import {
  HEARTBEAT_THREAD,
  type HeartbeatThreadData,
  monotonicOriginMs,
  READY,
  type ThreadMessage,
  WANTS_CONNECTION,
} from '../heartbeat-thread/thread-data.js';
import { type BackupReport, type HeartbeatBackup, type MainThreadState } from '../leadership/heartbeat-backup.js';
import { type HeartbeatThreadOptions } from '../options/singleton-job.options.js';
import { type StoreOptions } from '../store/open-store.js';
import { CrashHandover } from './crash-handover.js';
import { libraryFile } from './library-file.js';

/** How long to wait for `ready`: a wrong file may never send it. */
const START_LIMIT_MS = 30_000;

const BUNDLE_FIX =
  'in a bundle, emit nestjs-singleton-job/heartbeat-thread as a file of its own and name it in heartbeatThread: { workerFile }';

interface HeartbeatThreadParts {
  /** Where the main thread has its sessions. */
  readonly store: Pick<StoreOptions, 'projectName' | 'connection' | 'readConnection' | 'schema' | 'migrate'>;
  /** The name of the store of the main thread. */
  readonly storeName: string;
  readonly options: Partial<HeartbeatThreadOptions>;
  /** Whether the thread ends the sessions when the process ends by itself: the option `crashHandover`. */
  readonly crashHandover: boolean;
  readonly notify: Notify;
}

/** The worker thread that sends heartbeats while this one is blocked: see `BackupHeartbeats`. */
export class HeartbeatThread implements HeartbeatBackup, Pick<JobObserver, 'leadershipGained'> {
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #crashHandover: CrashHandover | undefined;
  #isClosed = false;
  /** Called when the process ends: see {@link CrashHandover}. */
  revokeSessions: () => () => void = () => () => undefined;
  #hasFailed = false;

  constructor(private readonly parts: HeartbeatThreadParts) {}

  /**
   * Starts the thread, which does not wait for the store.
   *
   * @throws InvalidOptionsError if its file cannot be run
   */
  async start(): Promise<void> {
    const { store, options } = this.parts;
    const { readConnection, ...cloned } = store;
    const file = options.workerFile ?? libraryFile('heartbeat-thread/index');
    const { port1, port2 } = new MessageChannel();
    const crashHandover = new CrashHandover(port1, () => this.revokeSessions());
    const workerData: HeartbeatThreadData = {
      kind: HEARTBEAT_THREAD,
      store: cloned,
      isReadAnew: readConnection !== undefined,
      originMs: monotonicOriginMs(),
      port: port2,
      ended: crashHandover.ended,
    };
    try {
      if (file === undefined) throw new NoFileError('this copy of the library has no path');
      const worker = new Worker(asUrlOrPath(file), {
        workerData,
        transferList: [port2],
        name: 'singleton-job heartbeats',
      });
      this.#worker = worker;
      await untilReady(worker);
      worker.on('message', (message: ThreadMessage) => {
        if (message === WANTS_CONNECTION) void this.#sendConnection(worker);
        else this.#fail(new Error(`it cannot reach ${this.parts.storeName}: ${message.unreachable}`));
      });
      worker.on('error', (error) => {
        this.#fail(error);
      });
      worker.on('exit', (code) => {
        this.#crashHandover?.stop();
        this.#crashHandover = undefined;
        this.#fail(new Error(`the thread ended with code ${code}`));
      });
      // the thread does not keep the process alive
      worker.unref();
      this.#port = port1;
      if (this.parts.crashHandover) this.#crashHandover = crashHandover;
      this.leadershipGained();
    } catch (error: unknown) {
      port1.close();
      await this.close();
      const problem = `heartbeatThread could not start '${String(file)}': ${messageOf(error)}`;
      throw new InvalidOptionsError([isNotFound(error) ? `${problem}: ${BUNDLE_FIX}` : problem], { cause: error });
    }
  }

  /** Other listeners of `exit` may have been added before ours since. */
  leadershipGained(): void {
    this.#crashHandover?.listenFirst();
  }

  update(state: MainThreadState): void {
    this.#port?.postMessage(state);
  }

  takeReports(): readonly BackupReport[] {
    const reports: BackupReport[] = [];
    if (this.#port === undefined) return reports;
    // messages that have arrived can be read although the event loop has not turned since the block
    for (let next = receive(this.#port); next !== undefined; next = receive(this.#port)) reports.push(next);
    return reports;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#crashHandover?.stop();
    this.#port?.close();
    this.#port = undefined;
    await this.#worker?.terminate();
  }

  async #sendConnection(worker: Worker): Promise<void> {
    try {
      worker.postMessage(await this.parts.store.readConnection?.());
    } catch {
      // the thread goes on with the last one, and says so if that does not work
    }
  }

  #fail(error: unknown): void {
    if (this.#isClosed || this.#hasFailed) return;
    this.#hasFailed = true;
    this.parts.notify('warning', heartbeatThreadFailed(error));
  }
}

class NoFileError extends Error {}

/** The file of the thread, or a module that it imports, is not there. */
function isNotFound(error: unknown): boolean {
  if (error instanceof NoFileError) return true;
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}

function receive(port: MessagePort): BackupReport | undefined {
  const received: { readonly message: unknown } | undefined = receiveMessageOnPort(port);
  return received?.message as BackupReport | undefined;
}

function asUrlOrPath(file: string | URL): string | URL {
  if (typeof file !== 'string') return file;
  return file.startsWith('file:') ? new URL(file) : resolve(file);
}

async function untilReady(worker: Worker): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    await Promise.race([
      // rejects with an error of the thread
      once(worker, 'message', { signal }).then(([message]) => {
        if (message !== READY) throw new Error('it is another program');
      }),
      once(worker, 'exit', { signal }).then(([code]) => {
        throw new Error(`it ended with code ${String(code)} before it was ready`);
      }),
      delay(START_LIMIT_MS, undefined, { signal }).then(() => {
        throw new Error(`it was not ready within ${START_LIMIT_MS / 1_000} s`);
      }),
    ]);
  } finally {
    ending.abort();
  }
}
