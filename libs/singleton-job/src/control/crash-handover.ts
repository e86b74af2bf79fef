import { type MessagePort } from 'node:worker_threads';
import { PROCESS_ENDS } from '../heartbeat-thread/thread-data.js';

/** How long a process that ends waits for its heartbeat thread: a store that is away must not hold it up for longer. */
const WAIT_MS = 200;

/**
 * Hands the jobs over when the process ends by itself: after an uncaught exception, an unhandled rejection, or `process.exit()`.
 *
 * In the `exit` event nothing asynchronous of the main thread runs any more, so no run of a job does. The heartbeat thread still works: it
 * ends the sessions in the store while the main thread waits. A signal without a handler, `process.abort()` and an exhausted heap have no
 * `exit` event. Then the sessions end by themselves.
 *
 * A process may survive its `exit` event: a later listener throws out of `process.exit()`, and the caller catches that. So its own leases
 * end too: no run starts from now on, and those in flight are aborted in the next turn of the event loop.
 */
export class CrashHandover {
  /** The thread wakes the main thread by it. */
  readonly ended = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #onExit: () => void;

  /** `revoke` ends the leases of this process, and returns a function that aborts the runs under them. */
  constructor(port: MessagePort, revoke: () => () => void) {
    this.#onExit = () => {
      // Some code emits 'exit' by hand, in a process that lives on. Node sets this field before it emits the event.
      if (Reflect.get(process, '_exiting') === false) return;
      setImmediate(revoke());
      port.postMessage(PROCESS_ENDS);
      Atomics.wait(new Int32Array(this.ended), 0, 0, WAIT_MS);
    };
  }

  /** Listens before all other listeners of `exit`: one that throws keeps the later ones from being called. */
  listenFirst(): void {
    this.stop();
    process.prependListener('exit', this.#onExit);
  }

  stop(): void {
    process.removeListener('exit', this.#onExit);
  }
}
