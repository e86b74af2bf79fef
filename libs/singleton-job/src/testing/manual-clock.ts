import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type Timer } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';

/** Waits until everything that is ready has run. Not one of the timers that a test runner may fake. */
export const settle = (): Promise<void> => nextTurn();

/** How often the event loop turns during a long advance, so that the test runner can end a test that never ends. */
const TIMERS_PER_TURN = 100;

/** Resolves when no promise has anything left to do. Much cheaper than a turn of the event loop. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/**
 * A clock that moves only when a test advances it. Timers fire in order. Promises settle before the next timer fires.
 */
export class ManualClock implements Clock {
  #nowMs = 0;
  /** What the wall clock shows when the monotonic one shows zero. */
  #wallAtZeroMs: number;
  /** In the order in which they fire. */
  readonly #timers: { readonly dueMs: number; readonly fire: () => void }[] = [];

  /** The wall clock starts at `wall`; the monotonic one at zero. */
  constructor(wall: string | number = '2027-01-01T00:00:00Z') {
    this.#wallAtZeroMs = new Date(wall).getTime();
  }

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return this.#wallAtZeroMs + this.#nowMs;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer = { dueMs: this.#nowMs + Math.max(delayMs, 0), fire };
    this.#timers.splice(this.#timers.findLastIndex(({ dueMs }) => dueMs <= timer.dueMs) + 1, 0, timer);
    return {
      cancel: () => {
        const index = this.#timers.indexOf(timer);
        if (index !== -1) this.#timers.splice(index, 1);
      },
    };
  }

  /**
   * Resolves when this clock has moved on by `forMs` milliseconds, or rejects when `signal` fires. For fakes of slow
   * work.
   *
   * @example await clock.sleep(1_500, { signal: run.signal });
   * @throws the reason of `signal`, as soon as it fires
   */
  async sleep(forMs: number, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    await sleep(this, forMs, signal ?? new AbortController().signal);
    signal?.throwIfAborted();
  }

  afterIo(): Promise<void> {
    return Promise.resolve();
  }

  /** How many timers are set: none may be left at the end of a test. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** Moves both clocks on, firing each timer at its instant. */
  async advance(byMs: number): Promise<void> {
    const targetMs = this.#nowMs + byMs;
    let fired = 0;
    await settle();
    for (let timer = this.#timers[0]; timer !== undefined && timer.dueMs <= targetMs; timer = this.#timers[0]) {
      this.#timers.shift();
      this.#nowMs = Math.max(timer.dueMs, this.#nowMs);
      timer.fire();
      fired += 1;
      await (fired % TIMERS_PER_TURN === 0 ? settle() : microtasksDone());
    }
    // a timer may have blocked for longer than the advance
    this.#nowMs = Math.max(targetMs, this.#nowMs);
  }

  /** Moves both clocks on at once, as during a blocked event loop or a stopped process. Due timers fire after that. */
  async block(forMs: number): Promise<void> {
    this.#nowMs += forMs;
    await this.advance(0);
  }

  /** Moves only the wall clock, as NTP or a person does, or as on a suspended host. */
  stepWall(byMs: number): void {
    this.#wallAtZeroMs += byMs;
  }
}
