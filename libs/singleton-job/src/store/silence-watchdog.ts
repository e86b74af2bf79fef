import { type Socket } from 'node:net';
import { showDuration } from '../base/text/duration.js';

/** The part of a socket that is looked at. */
type Stream = Pick<Socket, 'bytesRead'> & Partial<Pick<Socket, 'connecting'>>;

/** Nothing arrived on a connection while a request waited for its answer. */
export class NoAnswerError extends Error {}

/**
 * Watches one connection: calls `silent` if nothing arrives on it for `silenceMs` while a request waits for its answer.
 */
export class SilenceWatchdog {
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly stream: () => Stream,
    private readonly silenceMs: number,
    private readonly silent: (error: NoAnswerError) => void,
  ) {}

  /** While this promise is not settled. */
  async during<T>(answer: Promise<T>): Promise<T> {
    this.#waiting += 1;
    if (this.#waiting === 1) this.#watch();
    try {
      return await answer;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        clearTimeout(this.#timer);
        clearImmediate(this.#turn);
      }
    }
  }

  #watch(): void {
    const { bytesRead } = this.stream();
    const look = (): void => {
      const stream = this.stream();
      // a client has its own time limit for a connection that is being opened
      if (stream.connecting === true || stream.bytesRead !== bytesRead) this.#watch();
      else this.silent(new NoAnswerError(`no answer within ${showDuration(this.silenceMs)}`));
    };
    // a process that was blocked or stopped first reads the answers that arrived in the meantime
    this.#timer = setTimeout(() => (this.#turn = setImmediate(look)), this.silenceMs).unref();
  }
}
