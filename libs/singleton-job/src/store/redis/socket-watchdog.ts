import { type Redis } from 'ioredis';

/**
 * How long a socket may be silent while a command waits for its answer. The same for short leases and long ones: a new
 * connection costs a lease more time than a server that hangs for a moment does, and all replicas would make theirs at once.
 */
export const STALL_MS = 1_500;
const PERIOD_MS = Math.ceil(STALL_MS / 8);

/**
 * Destroys the socket of a client once nothing has arrived on it for {@link STALL_MS} while a command was waiting for its
 * answer, whichever command: the handshake of a server that accepts connections and then hangs is one too.
 *
 * Time in which the event loop did not turn does not count, and before the end the loop reads once more: a process that
 * was blocked or stopped finds the answers that came in meanwhile.
 */
export function watchForStall(redis: Redis): void {
  const waiting = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  let seen = progressOf(redis);
  let lookedAt = 0;
  let quietMs = 0;

  const look = (): void => {
    timer = undefined;
    if (waiting.size === 0) return;
    const now = performance.now();
    const progress = progressOf(redis);
    quietMs = hasMoved(progress, seen) ? 0 : quietMs + Math.min(now - lookedAt, 2 * PERIOD_MS);
    [seen, lookedAt] = [progress, now];
    if (quietMs >= STALL_MS) setImmediate(destroyIfStillQuiet);
    lookAgain();
  };
  const destroyIfStillQuiet = (): void => {
    if (waiting.size === 0 || hasMoved(progressOf(redis), seen)) return;
    quietMs = 0;
    redis.stream.destroy(new Error(`no answer within ${String(STALL_MS)} ms`));
  };
  const lookAgain = (): void => {
    timer ??= setTimeout(look, PERIOD_MS).unref();
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
