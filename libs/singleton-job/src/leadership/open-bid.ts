import { asLockStoreError } from '../errors/index.js';
import { type Grant, type Refusal } from '../store/index.js';
import { safetyMarginMs } from '../options/index.js';
import { type Clock, type Instant } from '../time/index.js';

/** A certain answer to a bid, and when the bid was sent. */
export interface Answered {
  readonly answer: Grant | Refusal;
  readonly sent: Instant;
}

/** A bid from its first try until its answer is certain. Each try may be answered, also after it was given up. */
export class OpenBid {
  #unknownTries = 0;
  #done = new AbortController();
  #grant: Answered | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly lockExpiryMs: number,
    private readonly stop: AbortSignal,
  ) {
    stop.addEventListener('abort', this.close);
  }

  /** Aborts when there is nothing more to ask: it was granted, or nobody wants it any longer. */
  get done(): AbortSignal {
    return this.#done.signal;
  }

  /** Whether the store may have carried it out without our knowing. */
  get mayHaveArrived(): boolean {
    return this.#unknownTries > 0;
  }

  /** Tries once. Only a try that was refused, or never left the process, is known to have done nothing. */
  async try<T>(send: () => Promise<T>): Promise<T> {
    this.#unknownTries += 1;
    try {
      return await send();
    } catch (error: unknown) {
      const failure = asLockStoreError(error);
      if (failure.code !== 'STORE_UNREACHABLE' || !failure.wasSent) this.#unknownTries -= 1;
      throw failure;
    }
  }

  /** A try was answered. */
  answered(answered: Answered): void {
    if (!answered.answer.granted) return;
    this.#grant = answered;
    this.#done.abort();
  }

  /**
   * A grant that came after its try was given up, if it still leaves a lease: counted from the time it was sent, a late yes
   * is as good as any, and on a slow connection there may never be another. One that leaves none is forgotten, and the
   * bid is open again.
   */
  takeLateGrant(): Answered | undefined {
    const grant = this.#grant;
    if (grant === undefined) return undefined;
    const deadlineMs = grant.sent.now + this.lockExpiryMs - safetyMarginMs(this.lockExpiryMs);
    if (this.clock.now() < deadlineMs) return grant;
    this.#grant = undefined;
    if (!this.stop.aborted) this.#done = new AbortController();
    return undefined;
  }

  /** Nobody wants it any longer. */
  readonly close = (): void => {
    this.stop.removeEventListener('abort', this.close);
    this.#done.abort();
  };
}
