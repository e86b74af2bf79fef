/** A timer that was set on a {@link Clock}. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  /** The timer does not fire any more. */
  cancel(): void;
}

/**
 * Time as an argument. Everything in the library that waits, measures or dates uses a clock that it was given,
 * so that a test can hold time still and a simulation can give every replica a clock of its own.
 */
export interface Clock {
  /**
   * Monotonic milliseconds with a fraction, from an arbitrary origin: the only time leases and durations are measured in.
   * It never steps, but stands still while the host is suspended.
   */
  now(): number;

  /** Milliseconds since the epoch by the wall clock, which may step either way: for cron, slots, logs and the cross-check of a lease. */
  wallNow(): number;

  /**
   * Calls `fire` once, `delayMs` from now, whatever the size of the delay. It may fire a little early, or late when the
   * event loop was busy: read the clock again before acting on an instant.
   */
  setTimer(delayMs: number, fire: () => void): Timer;

  /** Resolves once the event loop has had a chance to read what had already arrived from the network. */
  afterIo(): Promise<void>;
}

/** The same moment on both clocks. */
export interface Instant {
  readonly now: number;
  readonly wall: number;
}

/** Reads both clocks at once. */
export function instant(clock: Clock): Instant {
  return { now: clock.now(), wall: clock.wallNow() };
}
