import { lockLifeMs } from '../store/lock-store.js';
import { type Instant } from '../base/time/clock.js';
import { deadlineOf, earlier, later, safetyMarginMs } from './lease.js';
import { type Session } from './session.js';

/**
 * The lease of a term. It has two deadlines, one for the session and one for the lock. The earlier one counts: until then no other replica
 * can lead, unless the lock is released or deleted.
 */
export class JobLease {
  #lockDeadline: Instant;
  /**
   * The lock may be lost: while this deadline is set, it counts instead of that of the session, which heartbeats extend. It is where the
   * deadline of the session was then. (For a term whose grant proves nothing: where its acquire request put it.) A later request that
   * confirms the lock unsets it.
   */
  #frozen: Instant | undefined;

  /** The lock was granted by a request that was sent at `sent`. `provesLock`: it cannot be lost since then. */
  constructor(
    private readonly session: Session,
    sent: Instant,
    provesLock: boolean,
  ) {
    this.#lockDeadline = deadlineOf(sent, this.lockLifeMs);
    if (!provesLock) this.#frozen = deadlineOf(sent, session.lockExpiryMs);
  }

  /** How long the store keeps the lock after a renewal. */
  get lockLifeMs(): number {
    return lockLifeMs(this.session.lockExpiryMs);
  }

  get deadline(): Instant {
    return earlier(this.#lockDeadline, this.#frozen ?? this.session.deadline ?? this.#lockDeadline);
  }

  /** How long the store keeps the lock at most from `nowMs` on, by the monotonic clock, without another renewal. */
  lockRestMs(nowMs: number): number {
    return this.#lockDeadline.now + safetyMarginMs(this.lockLifeMs) - nowMs;
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  /** The lock may be lost: heartbeats do not extend this lease until a request that is sent from now on has confirmed it. */
  freeze(): void {
    this.#frozen ??= this.session.deadline;
  }

  /** The lock was confirmed by a request that was sent at `sent`. `provesLock`: it cannot be lost since then. */
  confirm(sent: Instant, provesLock: boolean): void {
    if (provesLock) this.#frozen = undefined;
    this.#lockDeadline = later(deadlineOf(sent, this.lockLifeMs), this.#lockDeadline);
  }
}
