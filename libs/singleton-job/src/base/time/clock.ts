/** A timer that was set on a {@link Clock}. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  /** The timer does not fire any more. */
  cancel(): void;
}

/**
 * Time as an argument. All that leads, runs, measures or writes a date uses a clock that it is given. So a test can
 * stop time, and a simulation can give each replica its own clock. Connections, the burst limit of the log and the wait
 * for signals use the timers of Node.
 */
export interface Clock {
  /**
   * Monotonic milliseconds with a fraction, from an arbitrary origin that all threads of a process share. Leases and
   * durations are measured only by this. It never steps, but stops while the host is suspended.
   */
  now(): number;

  /**
   * Milliseconds since the epoch by the wall clock, which may step. For cron, slots, logs and the second check of a
   * lease. `now`: what `now()` has just returned, which saves a reading. An empty run reads clocks for a fifth of
   * its time.
   */
  wallNow(now?: number): number;

  /**
   * Calls `fire` once, `delayMs` from now, also for very long delays. It may fire a little early, or late when the
   * event loop was busy. Read the clock again before you act on an instant.
   */
  setTimer(delayMs: number, fire: () => void): Timer;

  /** Resolves when the event loop has had a chance to read data that had already arrived from the network. */
  afterIo(): Promise<void>;
}

/** The same moment on both clocks. */
export interface Instant {
  readonly now: number;
  readonly wall: number;
}

/** Reads both clocks at once. */
export function instant(clock: Clock): Instant {
  const now = clock.now();
  return { now, wall: clock.wallNow(now) };
}
