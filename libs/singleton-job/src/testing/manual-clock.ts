import { type Clock, type Timer } from '../time/index.js';

interface PendingTimer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** Lets everything that is ready to run do so. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A clock that moves only when it is told to. Timers fire in order, and what they set off settles before the next. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #wallMs: number;
  readonly #timers = new Set<PendingTimer>();

  /** The wall clock starts at `wall`; the monotonic one at zero. */
  constructor(wall: string | number = '2027-01-01T00:00:00Z') {
    this.#wallMs = new Date(wall).getTime();
  }

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return this.#wallMs;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer: PendingTimer = { dueMs: this.#nowMs + Math.max(delayMs, 0), fire };
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
  }

  async afterIo(): Promise<void> {
    await Promise.resolve();
  }

  /** How many timers are set: none may be left at the end of a test. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves both clocks on, firing each timer at its instant. */
  async advance(byMs: number): Promise<void> {
    const targetMs = this.#nowMs + byMs;
    await settle();
    for (let timer = this.#due(targetMs); timer !== undefined; timer = this.#due(targetMs)) {
      this.#moveTo(Math.max(timer.dueMs, this.#nowMs));
      this.#timers.delete(timer);
      timer.fire();
      await settle();
    }
    // what a timer did may have blocked beyond it
    this.#moveTo(Math.max(targetMs, this.#nowMs));
  }

  /** Moves both clocks on at once, as a blocked event loop or a stopped process sees it: timers that came due fire after. */
  async block(forMs: number): Promise<void> {
    this.#moveTo(this.#nowMs + forMs);
    await this.advance(0);
  }

  /** Moves the wall clock alone, as NTP or a person does; the monotonic clock stands still, as on a suspended host. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  #due(atMs: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs <= atMs && (first === undefined || timer.dueMs < first.dueMs)) first = timer;
    }
    return first;
  }

  #moveTo(nowMs: number): void {
    this.#wallMs += nowMs - this.#nowMs;
    this.#nowMs = nowMs;
  }
}
