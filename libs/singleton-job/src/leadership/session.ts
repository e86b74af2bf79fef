import { setMaxListeners } from 'node:events';
import { type SessionId } from '../store/lock-store.js';
import { atDeadline } from '../base/time/at-deadline.js';
import { type Clock, type Instant, type Timer } from '../base/time/clock.js';
import { deadlineOf, isBefore } from './lease.js';

/**
 * The time-limited proof that this replica is alive. Heartbeats extend it, and terms depend on it. Its end is final. The store never
 * extends an ended session. The replica gives up a session whose deadline has passed, even if the store would still extend it.
 */
export class Session {
  readonly #over = new AbortController();
  #deadline: Instant | undefined;
  #confirmedEnd: number | undefined;
  #timer: Timer | undefined;
  #users = 0;

  constructor(
    readonly id: SessionId,
    readonly lockExpiryMs: number,
    private readonly clock: Clock,
    private readonly listener: {
      /** The session is over and nothing runs under it: the store may end it. */
      readonly unused: (session: Session) => void;
      /** Calls {@link raise} for what the heartbeat thread has confirmed. */
      readonly takeReports: () => void;
    },
  ) {
    // every term and acquire request of this session listens to this signal; Node would warn about a leak
    setMaxListeners(0, this.signal);
  }

  /** Aborts when the session is over. Every term under it ends with it. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** The end that the store confirmed last. Undefined: not confirmed yet. */
  get confirmedEnd(): number | undefined {
    return this.#confirmedEnd;
  }

  /** Until then the session is valid. Undefined: not confirmed yet. */
  get deadline(): Instant | undefined {
    return this.#deadline;
  }

  /** Whether a lock may be acquired under it: confirmed, not over, and its deadline has passed on neither clock. */
  isValid(): boolean {
    return !this.isOver && this.#deadline !== undefined && isBefore(this.clock, this.#deadline);
  }

  /** A heartbeat that was sent at `sent`, and answered now, has extended the session to `end`, by the clock of the store. */
  extend(sent: Instant, end: number): void {
    if (this.isOver) return;
    // the answer came too late: the session was already over, only its timer has not fired
    if (this.#deadline !== undefined && this.clock.now() >= this.#deadline.now) {
      this.end();
      return;
    }
    this.#raise(sent, end);
    this.#timer ??= atDeadline(
      this.clock,
      () => this.#remainingAfterReportsMs(),
      () => {
        this.end();
      },
    );
  }

  /** The same for a heartbeat of the heartbeat thread that was answered at `answeredMs`. It never ends the session. */
  raise(sent: Instant, end: number, answeredMs: number): void {
    if (this.isOver || this.#deadline === undefined || answeredMs >= this.#deadline.now) return;
    this.#raise(sent, end);
  }

  /** Ends the session for this replica: the store lists it as ended, its own deadline passed, or the replica stops. */
  end(): void {
    if (this.isOver) return;
    this.#timer?.cancel();
    this.#over.abort();
    if (this.#users === 0) this.listener.unused(this);
  }

  /**
   * The heartbeat thread has ended it in the store, because the process ends: no run may start from now on. If the process lives on after
   * all, {@link end} follows.
   */
  revoke(): void {
    this.#deadline = { now: -Infinity, wall: -Infinity };
  }

  /** Marks the session as in use until the returned function is called. A session in use is not ended in the store. */
  addUser(): () => void {
    this.#users += 1;
    let isInUse = true;
    return () => {
      if (!isInUse) return;
      isInUse = false;
      this.#users -= 1;
      if (this.#users === 0 && this.isOver) this.listener.unused(this);
    };
  }

  #raise(sent: Instant, end: number): void {
    const deadline = deadlineOf(sent, this.lockExpiryMs);
    // a later heartbeat was answered first
    if (this.#deadline !== undefined && deadline.now < this.#deadline.now) return;
    this.#deadline = deadline;
    this.#confirmedEnd = end;
  }

  #remainingAfterReportsMs(): number {
    this.listener.takeReports();
    return (this.#deadline?.now ?? 0) - this.clock.now();
  }
}
