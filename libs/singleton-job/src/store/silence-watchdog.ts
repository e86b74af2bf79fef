import { type Socket } from 'node:net';
import { showDuration } from '../base/text/duration.js';

/** The part of a socket that is looked at. */
type Stream = Pick<Socket, 'bytesRead'> & Partial<Pick<Socket, 'connecting'>>;

/** Nothing arrived on a connection while a request waited for its answer. */
export class NoAnswerError extends Error {}

interface Watched {
  readonly stream: () => Stream;
  readonly answerTimeoutMs: () => number;
  readonly silent: (error: NoAnswerError) => void;
}

/** Calls `silent` if nothing arrives on a connection for `answerTimeoutMs` while this answer is waited for. */
export function watchSilence<T>(answer: Promise<T>, { stream, answerTimeoutMs, silent }: Watched): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const watch = (): void => {
    const { bytesRead } = stream();
    const ms = answerTimeoutMs();
    const look = (): void => {
      const now = stream();
      // a client has its own time limit for a connection that is being opened
      if (now.connecting === true || now.bytesRead !== bytesRead) watch();
      else silent(new NoAnswerError(`no answer within ${showDuration(ms)}`));
    };
    // a process that was blocked or stopped first reads the answers that arrived in the meantime
    timer = setTimeout(() => (turn = setImmediate(look)), ms).unref();
  };
  watch();
  return answer.finally(() => {
    clearTimeout(timer);
    clearImmediate(turn);
  });
}

interface Connecting {
  readonly answerTimeoutMs: () => number;
  readonly lost: (reason: Error) => void;
}

/**
 * The same for an attempt to connect, on its first socket: TLS puts another one in its place, which counts no bytes of
 * its handshake. That it is open is news too.
 */
export function watchConnect<T>(answer: Promise<T>, socket: Stream, parts: Connecting): Promise<T> {
  return watchSilence(answer, {
    stream: () => ({ bytesRead: socket.bytesRead + Number(socket.connecting !== true) }),
    answerTimeoutMs: parts.answerTimeoutMs,
    // no time-out of a statement: it leaves nothing on the server
    silent: ({ message }) => {
      parts.lost(new Error(message));
    },
  });
}
