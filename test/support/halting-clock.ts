import { type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { ProcessClock } from '../../libs/singleton-job/src/testing/replicas/process-clock.js';

/**
 * How a process is halted. `paused`: both of its clocks continue (SIGSTOP, a blocked event loop). `suspended`: its
 * monotonic clock stops (a host that sleeps).
 */
export type Standstill = 'paused' | 'suspended';

/** Fractions of a millisecond do not add up exactly. */
const ROUNDING_MS = 0.001;

/** The clock of a process that can be paused and suspended, with a wall clock that may be wrong. */
export class HaltingClock extends ProcessClock {
  /** How far the wall clock is ahead. */
  aheadMs = 0;
  #halted: Standstill | undefined;
  #haltedAtMs = 0;
  #suspendedForMs = 0;
  #due: (() => void)[] = [];
  #arrivals: (() => void)[] = [];

  override now(): number {
    return (this.#halted === 'suspended' ? this.#haltedAtMs : super.now()) - this.#suspendedForMs;
  }

  override wallNow(): number {
    return Math.floor(super.wallNow() + this.aheadMs);
  }

  override setTimer(delayMs: number, fire: () => void): Timer {
    const dueMs = this.now() + Math.max(delayMs, 0);
    let isPending = true;
    const arm = (forMs: number): Timer =>
      super.setTimer(forMs, () => {
        this.#whenRunning(this.#due, wake);
      });
    const wake = (): void => {
      if (!isPending) return;
      const leftMs = dueMs - this.now();
      // a monotonic clock that stopped is not there yet
      if (leftMs > ROUNDING_MS) pending = arm(leftMs);
      else fire();
    };
    let pending = arm(delayMs);
    const cancel = (): void => {
      isPending = false;
      pending.cancel();
    };
    return { cancel };
  }

  /** At once, or when the process continues. */
  override deliver(arrive: () => void): void {
    this.#whenRunning(this.#arrivals, () => {
      super.deliver(arrive);
    });
  }

  /** Halts the process until {@link resume}. */
  halt(how: Standstill): void {
    this.#halted = how;
    this.#haltedAtMs = this.common.now();
  }

  /** The process continues. */
  resume(): void {
    if (this.#halted === 'suspended') this.#suspendedForMs += this.common.now() - this.#haltedAtMs;
    this.#halted = undefined;
    // each in its own turn, as in an event loop
    for (const go of this.inOrder([...this.#due.splice(0), ...this.#arrivals.splice(0)])) super.setTimer(0, go);
  }

  /** The timers that came due fire before it reads from the network. */
  protected inOrder<T>(waiting: readonly T[]): readonly T[] {
    return waiting;
  }

  #whenRunning(held: (() => void)[], go: () => void): void {
    if (this.#halted === undefined) go();
    else
      held.push(() => {
        this.#whenRunning(held, go);
      });
  }
}
