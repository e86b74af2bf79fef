import { deadlineOf, isBefore, later } from '../leadership/lease.js';
import { LockRenewal } from '../leadership/renewals.js';
import { type Replica } from '../leadership/replica.js';
import { type Grant, type Holder } from '../store/lock-store.js';
import { atDeadline } from '../base/time/at-deadline.js';
import { instant, type Instant, type Timer } from '../base/time/clock.js';
import { onAbort } from '../base/time/on-abort.js';
import { STATE_LIFE_MS } from './known-locks.js';

interface LockLeaseFacts {
  readonly name: string;
  readonly holder: Holder;
  readonly expiryMs: number;
  readonly grant: Grant;
  /** When the acquire request was sent. */
  readonly sent: Instant;
}

/**
 * The lease of a lock of `LockService`. It has no session: the lock lives for its `expiry`, and its renewals extend it. A process that
 * locks once a day sends no heartbeats for it.
 */
export class LockLease {
  readonly #ending = new AbortController();
  #deadline: Instant;
  #timer: Timer | undefined;
  readonly #renewal: LockRenewal;
  #isReleased = false;

  constructor(
    private readonly replica: Pick<Replica, 'context' | 'messages' | 'renewals'>,
    private readonly facts: LockLeaseFacts,
  ) {
    const { clock, closing } = replica.context;
    this.#renewal = new LockRenewal(facts.name, this.signal, () => this.#renew());
    this.#deadline = deadlineOf(facts.sent, facts.expiryMs);
    const end = (): void => {
      this.#end();
    };
    this.#timer = atDeadline(clock, () => this.#remainingMs, end);
    onAbort(this.signal, onAbort(closing, end));
  }

  get name(): string {
    return this.facts.name;
  }

  get expiryMs(): number {
    return this.facts.expiryMs;
  }

  /** Larger than that of every earlier holder of the lock. */
  get fencingToken(): number {
    return this.facts.grant.token;
  }

  /** Aborts when the lease is over, for any reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether it was given back. If not, another holder may have the lock when it is over. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Whether the lock is still held, by both clocks. */
  isValid(): boolean {
    return !this.signal.aborted && isBefore(this.replica.context.clock, this.#deadline);
  }

  /** Renews the lock often enough, until the lease is over or the returned function is called. */
  keepAlive(): () => void {
    const { context, renewals } = this.replica;
    const intervalMs = Math.min(context.settings.heartbeatIntervalMs, this.expiryMs / 4);
    const stop = renewals.add(this.#renewal, intervalMs);
    this.signal.addEventListener('abort', stop);
    // the grant came late
    if (this.#remainingMs < 2 * intervalMs) void this.#renewal.renew();
    return stop;
  }

  /** Frees the lock. Resolves to whether the store has confirmed that, within 2 s. Never rejects. */
  release(): Promise<boolean> {
    const { name, fencingToken: token, replica, expiryMs } = this;
    this.#isReleased = this.#remainingMs > 0 && !this.signal.aborted;
    // an expired lock needs no release
    const restMs = this.#remainingMs + expiryMs / 10;
    this.#end();
    const request = { name, holder: this.facts.holder, token, update: {} };
    return replica.messages.release(request, restMs);
  }

  get #remainingMs(): number {
    return this.#deadline.now - this.replica.context.clock.now();
  }

  async #renew(): Promise<void> {
    const { client, clock } = this.replica.context;
    const { name, expiryMs: lifeMs } = this;
    const { holder } = this.facts;
    let sent = instant(clock);
    const send = () => {
      sent = instant(clock);
      return client.store.renew({ name, holder, lifeMs, stateLifeMs: STATE_LIFE_MS, update: {} });
    };
    const result = await client.untilAnswered({ name, kind: 'renew', signal: this.signal, send });
    if (result === undefined || this.#remainingMs <= 0) return;
    if (result.held) this.#deadline = later(deadlineOf(sent, lifeMs), this.#deadline);
    else this.#end();
  }

  #end(): void {
    this.#timer?.cancel();
    this.#ending.abort();
  }
}
