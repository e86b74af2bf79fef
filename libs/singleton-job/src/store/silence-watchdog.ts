import { showDuration } from '../base/events/show-duration.js';

/** How long nothing may arrive on a connection while a request waits for its answer. */
const SILENCE_MS = 1_500;
const PERIOD_MS = 150;

/** A connection was closed because nothing arrived on it. */
export class SilentConnectionError extends Error {
  constructor() {
    super(`no answer within ${showDuration(SILENCE_MS)}`);
  }
}

/** What the watchdog reads of a connection. */
export interface Socket {
  readonly bytesRead: number;
  /** A client has its own time-out for a socket that is still connecting. */
  readonly connecting: boolean;
}

interface SilenceWatchdogOptions {
  /** Undefined: there is none yet. */
  readonly socket: () => Socket | undefined;
  /** Closes the connection. */
  readonly close: (error: SilentConnectionError) => void;
}

/**
 * Closes a connection on which nothing arrives for 1.5 s while a request waits for its answer. The handshake counts as a request: a
 * server may accept connections and then hang.
 *
 * Time during which the event loop is blocked does not count. Before the connection is closed, the event loop reads once more: a
 * process that was blocked or stopped finds the answers that arrived in the meantime.
 */
export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  readonly #waiting = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #seen: { readonly socket: Socket | undefined; readonly bytesRead: number } | undefined;
  #lookedAt = 0;
  #silentMs = 0;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  /** Watches the connection until this answer has arrived. */
  watch(answer: Promise<unknown>): void {
    if (this.#waiting.size === 0) this.#startAnew();
    this.#waiting.add(answer);
    const settled = (): void => {
      this.#waiting.delete(answer);
    };
    answer.then(settled, settled);
    this.#lookLater();
  }

  #startAnew(): void {
    const socket = this.#options.socket();
    this.#seen = { socket, bytesRead: socket?.bytesRead ?? 0 };
    this.#lookedAt = performance.now();
    this.#silentMs = 0;
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, PERIOD_MS).unref();
  }

  #look(): void {
    if (this.#waiting.size === 0) return;
    const elapsedMs = performance.now() - this.#lookedAt;
    if (this.#hasMoved()) this.#startAnew();
    else this.#silentMs += Math.min(elapsedMs, 2 * PERIOD_MS);
    this.#lookedAt = performance.now();
    if (this.#silentMs >= SILENCE_MS) {
      setImmediate(() => {
        this.#closeIfStillSilent();
      });
    }
    this.#lookLater();
  }

  #closeIfStillSilent(): void {
    if (this.#waiting.size === 0 || this.#hasMoved()) return;
    this.#silentMs = 0;
    this.#options.close(new SilentConnectionError());
  }

  #hasMoved(): boolean {
    const socket = this.#options.socket();
    return socket?.connecting !== false || socket !== this.#seen?.socket || socket.bytesRead !== this.#seen.bytesRead;
  }
}
