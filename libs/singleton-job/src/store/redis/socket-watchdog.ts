import { type Redis } from 'ioredis';
import { showDuration } from '../../base/events/show-duration.js';

/** How long nothing may arrive on a connection while a request waits for its answer. */
const SILENCE_MS = 1_500;
const PERIOD_MS = 150;

/** A connection was closed because nothing arrived on it. */
export class SilentConnectionError extends Error {
  constructor() {
    super(`no answer within ${showDuration(SILENCE_MS)}`);
  }
}

/**
 * Closes a connection on which nothing arrives for 1.5 s while a request waits for its answer. The handshake counts as a request: a
 * server may accept connections and then hang.
 *
 * Time during which the event loop is blocked does not count. Before the connection is closed, the event loop reads once more: a
 * process that was blocked or stopped finds the answers that arrived in the meantime.
 */
export class SocketWatchdog {
  readonly #redis: Redis;
  readonly #waiting = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #seen: Progress;
  #lookedAt = 0;
  #silentMs = 0;

  constructor(redis: Redis) {
    this.#redis = redis;
    this.#seen = progressOf(redis);
    // every command passes here, also those that ioredis sends by itself; its own queue is private
    const send = redis.sendCommand.bind(redis);
    redis.sendCommand = (command, stream) => {
      const sent = send(command, stream);
      this.#watch(command.promise as Promise<unknown>);
      return sent;
    };
  }

  #watch(answer: Promise<unknown>): void {
    if (this.#waiting.size === 0) this.#startAnew();
    this.#waiting.add(answer);
    const settled = (): void => {
      this.#waiting.delete(answer);
    };
    answer.then(settled, settled);
    this.#lookLater();
  }

  #startAnew(): void {
    this.#seen = progressOf(this.#redis);
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
    this.#redis.stream.destroy(new SilentConnectionError());
  }

  #hasMoved(): boolean {
    const { stream, bytesRead, isConnecting } = progressOf(this.#redis);
    // ioredis has its own time-out for a socket that is still connecting
    return isConnecting || stream !== this.#seen.stream || bytesRead !== this.#seen.bytesRead;
  }
}

interface Progress {
  readonly stream: unknown;
  readonly bytesRead: number;
  readonly isConnecting: boolean;
}

function progressOf(redis: Redis): Progress {
  const stream = redis.stream as Redis['stream'] | undefined;
  return { stream, bytesRead: stream?.bytesRead ?? 0, isConnecting: stream?.connecting ?? true };
}
