import { type Redis } from 'ioredis';

/**
 * Destroys the socket of a client once nothing has arrived on it for `stallMs` while a command was waiting for its answer,
 * whichever command: the handshake of a server that accepts connections and then hangs is one too.
 *
 * Time in which the event loop did not turn does not count, and before the end the loop reads once more: a process that
 * was blocked or stopped finds the answers that came in meanwhile.
 */
export function watchForStall(redis: Redis, stallMs: number): void {
  const waiting = new Set<Promise<unknown>>();
  const periodMs = Math.max(Math.ceil(stallMs / 8), 5);
  let timer: NodeJS.Timeout | undefined;
  let seen = progressOf(redis);
  let lookedAt = 0;
  let quietMs = 0;

  const look = (): void => {
    timer = undefined;
    if (waiting.size === 0) return;
    const now = performance.now();
    const progress = progressOf(redis);
    quietMs = hasMoved(progress, seen) ? 0 : quietMs + Math.min(now - lookedAt, 2 * periodMs);
    [seen, lookedAt] = [progress, now];
    if (quietMs >= stallMs) setImmediate(destroyIfStillQuiet);
    lookAgain();
  };
  const destroyIfStillQuiet = (): void => {
    if (waiting.size === 0 || hasMoved(progressOf(redis), seen)) return;
    quietMs = 0;
    redis.stream.destroy(new Error(`no answer within ${String(stallMs)} ms`));
  };
  const lookAgain = (): void => {
    timer ??= setTimeout(look, periodMs).unref();
  };

  // every command passes here, also those that the client sends by itself; its own queue of them is private
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const sent = send(command, stream);
    const answer = command.promise as Promise<unknown>;
    const settled = (): void => {
      waiting.delete(answer);
    };
    if (waiting.size === 0) [seen, lookedAt, quietMs] = [progressOf(redis), performance.now(), 0];
    waiting.add(answer);
    answer.then(settled, settled);
    lookAgain();
    return sent;
  };
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

/** A socket that is still connecting has a time-out of its own. */
function hasMoved(progress: Progress, before: Progress): boolean {
  return progress.isConnecting || progress.stream !== before.stream || progress.bytesRead !== before.bytesRead;
}
