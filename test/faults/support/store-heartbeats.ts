import { setTimeout as delay } from 'node:timers/promises';
import { asStoreError, type StoreError } from '../../../libs/singleton-job/src/base/errors/store.error.js';
import { type Store, type SyncResult } from '../../../libs/singleton-job/src/store/store.js';
import { until } from '../../../tools/replicas/until.js';

interface Outcome {
  readonly sentMs: number;
  readonly endedMs: number;
  readonly result: SyncResult | StoreError;
}

/** What a replica notices of a fault, in milliseconds. */
export interface Noticed {
  /** From the begin of the fault to the first heartbeat that failed. */
  readonly noticedMs: number;
  /** From the end of the fault to the first answer. */
  readonly backMs: number;
  readonly errors: readonly StoreError[];
}

/**
 * The heartbeats of a replica: one is under way at a time, and one that failed is sent again soon, or on a new
 * connection.
 */
export class StoreHeartbeats implements AsyncDisposable {
  readonly disconnected: StoreError[] = [];
  #outcomes: Outcome[] = [];
  #wake: () => void = () => undefined;
  #isListening = false;
  #isClosed = false;
  readonly #ended: Promise<void>;
  readonly #lease: string;
  readonly intervalMs: number;

  constructor(
    private readonly store: Store,
    lockExpiryMs: number,
  ) {
    this.#lease = `a.1@${String(lockExpiryMs)}`;
    this.intervalMs = Math.min(3_000, lockExpiryMs / 4);
    store.addListener({
      connected: () => {
        this.#wake();
      },
      disconnected: (error) => this.disconnected.push(asStoreError(error)),
      listening: (isListening) => (this.#isListening = isListening),
    });
    store.open();
    this.#ended = this.#beat();
  }

  /** Resolves when the last heartbeat was answered, to its answer. */
  async answer(): Promise<SyncResult> {
    await until('a heartbeat is answered', () => isAnswer(this.#outcomes.at(-1)));
    return this.#outcomes.at(-1)?.result as SyncResult;
  }

  /** Resolves when hints of other replicas arrive. */
  async listening(): Promise<void> {
    await until('the store listens', () => this.#isListening);
  }

  /**
   * What is noticed of a fault from `begin` to `end`. It begins at a random moment between two heartbeats. It lasts so
   * long, and until one has failed and an error says so: on a busy machine that may leave late, or not be answered.
   */
  async during(begin: () => unknown, end: () => unknown, lastsMs: number, says = /./): Promise<Noticed> {
    await this.answer();
    await delay(this.intervalMs * Math.random());
    this.#outcomes = [];
    this.disconnected.length = 0;
    const beganMs = performance.now();
    await begin();
    await delay(lastsMs);
    const failed = (): Outcome[] => this.#outcomes.filter((outcome) => !isAnswer(outcome));
    await until('a heartbeat fails', () => failed().length > 0);
    const errors = () => failed().flatMap(({ result }) => (result instanceof Error ? [result] : []));
    await until('an error says it', () =>
      [...errors(), ...this.disconnected].some(({ message }) => says.test(message)),
    );
    const endedMs = performance.now();
    await end();
    const back = await until('the store answers again', () =>
      this.#outcomes.find((outcome) => isAnswer(outcome) && outcome.endedMs > endedMs && outcome.sentMs > beganMs),
    );
    const noticedMs = (failed()[0]?.endedMs ?? Infinity) - beganMs;
    return { noticedMs, backMs: back.endedMs - endedMs, errors: errors() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.store.close();
    await this.#ended;
  }

  async #beat(): Promise<void> {
    while (!this.#isClosed) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const sentMs = performance.now();
      const request = { isNewcomer: false, renew: [], grant: [this.#lease], revoke: [], read: ['price-tick:job'] };
      const result = await this.store.sync(request).catch(asStoreError);
      this.#outcomes.push({ sentMs, endedMs: performance.now(), result });
      const waitMs = result instanceof Error ? Math.min(250, this.intervalMs / 4) : this.intervalMs;
      const timer = new AbortController();
      await Promise.race([woken, delay(waitMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
    }
  }
}

function isAnswer(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && !(outcome.result instanceof Error);
}
