import { type Clock, type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { type ScheduledEvent, type Timeline } from './timeline.js';

export interface ClockFaults {
  /** How far the wall clock is ahead of true time. */
  readonly aheadMs: number;
  /** How many of its milliseconds pass in one millisecond of true time. */
  readonly rate: number;
}

/** A timer of Node.js may fire early by less than a millisecond. */
export const MOST_EARLY_MS = 0.9;

/** Fractions of milliseconds do not add up exactly. So a timer is set a moment later and never fires too early. */
const ROUNDING_MS = 0.001;

/** The correct wall time when a simulation begins. */
const EPOCH_MS = Date.UTC(2027, 0, 1);

/**
 * How a process is halted. `paused`: both clocks continue (SIGSTOP). `suspended`: its monotonic clock stops, as on a host that sleeps.
 * `frozen`: both clocks stop, as in a virtual machine that does not learn how long it slept.
 */
export type Standstill = 'paused' | 'suspended' | 'frozen';

/**
 * The clocks of one thread of a process, with an offset and a rate. They stop while the host is suspended. Timers do not fire while the
 * process is halted or the thread is blocked. When it continues, the timers that came due fire before it reads from the network.
 */
export class ProcessClock implements Clock {
  readonly #timeline: Timeline;
  readonly #rate: number;
  readonly #earlyMs: () => number;
  #aheadMs: number;
  #wasStepped = false;
  #state: 'running' | Standstill | 'ended' = 'running';
  #isBlocked = false;
  #haltedAtMs = 0;
  #suspendedForMs = 0;
  #frozenForMs = 0;
  #heldTimers: (() => void)[] = [];
  #heldArrivals: (() => void)[] = [];

  /** `earlyMs`: how early the next timer fires. */
  constructor(timeline: Timeline, { aheadMs, rate }: ClockFaults, earlyMs = () => 0) {
    this.#timeline = timeline;
    this.#earlyMs = earlyMs;
    this.#aheadMs = aheadMs;
    this.#rate = rate;
  }

  now(): number {
    const isAsleep = this.#state === 'suspended' || this.#state === 'frozen';
    return (this.#trueNow(isAsleep) - this.#suspendedForMs - this.#frozenForMs) * this.#rate;
  }

  wallNow(): number {
    const now = this.#trueNow(this.#state === 'frozen') - this.#frozenForMs;
    return Math.floor(EPOCH_MS + now * this.#rate + this.#aheadMs);
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const startMs = this.now();
    const dueMs = Math.max(startMs + delayMs - this.#earlyMs(), startMs);
    let event: ScheduledEvent;
    let isPending = true;
    const arm = (): void => {
      event = this.#timeline.after((dueMs - this.now()) / this.#rate + ROUNDING_MS, () => {
        this.#whenRunning(this.#heldTimers, wake);
      });
    };
    const wake = (): void => {
      // one of the timers that came due while the process was halted may cancel another
      if (!isPending) return;
      // a monotonic clock that stopped with the host is not there yet
      if (this.now() < dueMs) arm();
      else {
        isPending = false;
        fire();
      }
    };
    arm();
    return {
      cancel: () => {
        if (!isPending) return;
        isPending = false;
        event.callOff();
        if (this.#heldTimers.length > 0) this.#heldTimers = this.#heldTimers.filter((held) => held !== wake);
      },
    };
  }

  async afterIo(): Promise<void> {
    await Promise.resolve();
  }

  /** Something arrives from the network: at once, or when the process continues. Never once it has ended. */
  deliver(arrive: () => void): void {
    this.#whenRunning(this.#heldArrivals, arrive);
  }

  stepWall(byMs: number): void {
    this.#aheadMs += byMs;
    this.#wasStepped = true;
  }

  get wasStepped(): boolean {
    return this.#wasStepped;
  }

  get wasSuspended(): boolean {
    return this.#state === 'suspended' || this.#suspendedForMs > 0;
  }

  /** Neither halted nor blocked. */
  get isRunning(): boolean {
    return this.#state === 'running' && !this.#isBlocked;
  }

  get isBlocked(): boolean {
    return this.#state === 'running' && this.#isBlocked;
  }

  /** Halts the process until {@link goOn}. */
  halt(how: Standstill): void {
    if (this.#state !== 'running') return;
    this.#state = how;
    this.#haltedAtMs = this.#timeline.nowMs;
  }

  goOn(): void {
    if (this.#state === 'ended') return;
    if (this.#state === 'suspended') this.#suspendedForMs += this.#timeline.nowMs - this.#haltedAtMs;
    if (this.#state === 'frozen') this.#frozenForMs += this.#timeline.nowMs - this.#haltedAtMs;
    this.#state = 'running';
    if (this.#isBlocked) return;
    const timers = this.#heldTimers;
    const arrivals = this.#heldArrivals;
    this.#heldTimers = [];
    this.#heldArrivals = [];
    // each in its own turn, as in an event loop
    for (const go of timers)
      this.#timeline.after(0, () => {
        this.#whenRunning(this.#heldTimers, go);
      });
    for (const go of arrivals)
      this.#timeline.after(0, () => {
        this.#whenRunning(this.#heldArrivals, go);
      });
  }

  /** Blocks the event loop of this thread until {@link unblock}, unless the process is halted already. */
  block(): void {
    if (this.#state === 'running') this.#isBlocked = true;
  }

  /** A process that was halted during the block continues now at the latest. */
  unblock(): void {
    this.#isBlocked = false;
    this.goOn();
  }

  /** The process is gone: nothing fires, nothing arrives. */
  end(): void {
    this.#state = 'ended';
    this.#heldTimers = [];
    this.#heldArrivals = [];
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  #trueNow(standsStill: boolean): number {
    return standsStill ? this.#haltedAtMs : this.#timeline.nowMs;
  }

  #whenRunning(held: (() => void)[], go: () => void): void {
    if (this.#state === 'running' && !this.#isBlocked) go();
    else if (this.#state !== 'ended') held.push(go);
  }
}
