import { type Clock, type Timer } from '../../base/time/clock.js';

/**
 * How a process is halted. `paused`: both of its clocks continue (SIGSTOP, a blocked event loop). `suspended`: its monotonic clock stops
 * (a host that sleeps).
 */
type Standstill = 'paused' | 'suspended';

/** Fractions of a millisecond do not add up exactly, so a timer of a clock at another rate is set a moment later, never early. */
const ROUNDING_MS = 0.001;

/** The clock of one replica: the common time with an offset and a rate. The process can be paused, suspended and killed. */
export class ReplicaClock implements Clock {
  /** How far the wall clock is ahead. */
  aheadMs = 0;
  readonly #timers = new Set<Timer>();
  #state: 'running' | Standstill | 'killed' = 'running';
  #haltedAtMs = 0;
  #suspendedForMs = 0;
  #held: (() => void)[] = [];
  #arrivals: (() => void)[] = [];

  /** `rate` is how many milliseconds of this clock pass in one of the common time. */
  constructor(
    private readonly common: Clock,
    private readonly rate = 1,
  ) {}

  now(): number {
    const nowMs = this.#state === 'suspended' ? this.#haltedAtMs : this.common.now();
    return (nowMs - this.#suspendedForMs) * this.rate;
  }

  wallNow(): number {
    return Math.floor(this.common.wallNow() + (this.rate - 1) * this.common.now() + this.aheadMs);
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const dueMs = this.now() + Math.max(delayMs, 0);
    let pending: Timer | undefined;
    const cancel = (): void => {
      pending?.cancel();
      pending = undefined;
      this.#timers.delete(timer);
    };
    const wake = (): void => {
      if (pending === undefined) return;
      const leftMs = dueMs - this.now();
      // a monotonic clock that stopped is not there yet
      if (leftMs > 0) arm(leftMs / this.rate + ROUNDING_MS);
      else {
        cancel();
        fire();
      }
    };
    const arm = (forMs: number): void => {
      pending = this.common.setTimer(forMs, () => {
        this.#whenRunning(this.#held, wake);
      });
    };
    const timer = { cancel };
    if (this.#state === 'killed') return timer;
    this.#timers.add(timer);
    arm(Math.max(delayMs, 0) / this.rate);
    return timer;
  }

  afterIo(): Promise<void> {
    return this.common.afterIo();
  }

  /** Something arrives from the network: at once, or when the process continues. Never once it is killed. */
  deliver(arrive: () => void): void {
    this.#whenRunning(this.#arrivals, arrive);
  }

  /** Halts the process until {@link resume}. */
  halt(how: Standstill): void {
    if (this.#state !== 'running') return;
    this.#state = how;
    this.#haltedAtMs = this.common.now();
  }

  /** The process continues. The timers that came due fire before it reads from the network. */
  resume(): void {
    if (this.#state === 'running' || this.#state === 'killed') return;
    if (this.#state === 'suspended') this.#suspendedForMs += this.common.now() - this.#haltedAtMs;
    this.#state = 'running';
    const [held, arrivals] = [this.#held, this.#arrivals];
    this.#held = [];
    this.#arrivals = [];
    // each in its own turn, as in an event loop
    for (const wake of held)
      this.common.setTimer(0, () => {
        this.#whenRunning(this.#held, wake);
      });
    for (const arrive of arrivals)
      this.common.setTimer(0, () => {
        this.#whenRunning(this.#arrivals, arrive);
      });
  }

  /** The process is gone: no timer fires, nothing arrives. */
  kill(): void {
    this.#state = 'killed';
    for (const timer of this.#timers) timer.cancel();
    this.#held = [];
    this.#arrivals = [];
  }

  get isKilled(): boolean {
    return this.#state === 'killed';
  }

  #whenRunning(held: (() => void)[], go: () => void): void {
    if (this.#state === 'running') go();
    else if (this.#state !== 'killed') held.push(go);
  }
}
