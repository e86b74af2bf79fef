import { type Redis } from 'ioredis';
import { showDuration } from '../../base/events/show-duration.js';

/**
 * Closes a connection on which nothing arrives for `silenceMs` while a command waits for its answer. The handshake counts: a server may
 * accept connections and then hang. The `socketTimeout` of ioredis would not do: version 5 closes the next connection as well.
 */
export function watchSilence(redis: Redis, silenceMs: number): void {
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let seen: Pick<Redis, 'stream'> & { readonly bytesRead: number };

  const wait = (): void => {
    const { stream } = redis;
    const before = (seen = { stream, bytesRead: stream.bytesRead });
    clearTimeout(timer);
    timer = setTimeout(() => {
      // a process that was blocked or stopped first reads the answers that arrived in the meantime
      setImmediate(() => {
        if (waiting > 0 && before === seen) look();
      });
    }, silenceMs).unref();
  };
  const look = (): void => {
    const { stream } = redis;
    // ioredis has its own time-out for a connection that is being opened
    const hasMoved = stream.connecting || stream !== seen.stream || stream.bytesRead !== seen.bytesRead;
    if (hasMoved) wait();
    else stream.destroy(new Error(`no answer within ${showDuration(silenceMs)}`));
  };

  // every command passes here, also those that ioredis sends by itself
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const sent = send(command, stream);
    if ((redis.stream as unknown) === undefined) return sent;
    waiting += 1;
    if (waiting === 1) wait();
    const settled = (): unknown => (waiting -= 1);
    (command.promise as Promise<unknown>).then(settled, settled);
    return sent;
  };
}
