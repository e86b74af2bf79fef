import { type Clock, instant, type Instant, type Timer } from '../time/index.js';

/** How a lease ended: given back, taken by somebody else, not confirmed in time, or left to expire by a process that ends. */
export type LeaseEnd = 'released' | 'preempted' | 'expired' | 'abandoned';

export interface LeaseTerms {
  readonly lockExpiryMs: number;
  readonly safetyMarginMs: number;
}

/**
 * The time-limited right to lead, as this process may believe in it.
 *
 * The deadline is counted from the moment the last confirmed request was *sent*, because Redis may have carried it out
 * right then: deadline = sent + lockExpiry − safety margin, on the monotonic clock. A slow answer can only shorten a
 * lease. (The rule of client-go's RenewDeadline and of Redlock's validity time.)
 *
 * The monotonic clock stands still on a suspended host. So the wall clock may not have gone on by more than the safety
 * margin beyond it since that request: otherwise the lease is in doubt until it is confirmed again. That keeps the wall
 * clock below wall time sent + lockExpiry wherever the lease is trusted.
 */
export class Lease {
  readonly #ending = new AbortController();
  #sent: Instant;
  #timer: Timer | undefined;
  #end: LeaseEnd | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly terms: LeaseTerms,
    sent: Instant,
  ) {
    this.#sent = sent;
    this.#watchDeadline();
  }

  /** Aborts when the lease ends, by itself at the deadline: as soon as the event loop turns, not at the next heartbeat. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Undefined while it has not ended. */
  get end(): LeaseEnd | undefined {
    return this.#end;
  }

  get remainingMs(): number {
    return this.#deadlineMs - this.clock.now();
  }

  /**
   * Whether a run may start now. The clocks are read anew each time, since no timer can be trusted to have fired:
   * a stopped process or a blocked event loop wakes up with its timers late.
   */
  isTrusted(): boolean {
    return this.#end === undefined && this.covers(instant(this.clock));
  }

  /** Whether the lock could not pass to another before `at`, by both clocks, even if the lease has ended since. */
  covers({ now, wall }: Instant): boolean {
    const mayHaveSlept = wall - this.#sent.wall > now - this.#sent.now + this.terms.safetyMarginMs;
    return now < this.#deadlineMs && !mayHaveSlept;
  }

  /** Whether it ended, or its deadline has passed and no timer could say so yet. */
  isOver(): boolean {
    return this.#end !== undefined || this.clock.now() >= this.#deadlineMs;
  }

  /** A request sent at `sent` was confirmed. Confirmations may arrive in any order; none shortens the lease or revives it. */
  confirm(sent: Instant): void {
    if (this.isOver() || sent.now < this.#sent.now) return;
    this.#sent = sent;
  }

  /** Ends it now, if it has not ended. */
  finish(end: LeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#timer?.cancel();
    this.#ending.abort();
  }

  get #deadlineMs(): number {
    return this.#sent.now + this.terms.lockExpiryMs - this.terms.safetyMarginMs;
  }

  #watchDeadline(): void {
    this.#timer = this.clock.setTimer(Math.max(this.remainingMs, 0), () => {
      // renewals do not touch the timer: it finds out here that the deadline has moved
      if (this.remainingMs > 0) this.#watchDeadline();
      else this.finish('expired');
    });
  }
}
