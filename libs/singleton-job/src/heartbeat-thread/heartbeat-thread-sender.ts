import { type Clock, instant, type Timer } from '../base/time/clock.js';
import { Lease, trustedMs } from '../leadership/lease.js';
import { type LeaseId, ttlOf } from '../store/lease-id.js';
import { type Store } from '../store/store.js';
import { type HeartbeatThreadReport, type HeartbeatThreadState } from './thread-data.js';

/** The main thread is late when its next heartbeat is overdue by half an interval. */
const LATE_AFTER_INTERVALS = 1.5;
const CHECKS_PER_INTERVAL = 4;
/**
 * A main thread that has been silent for longer counts as dead. Leases do not last much longer than this without it.
 */
const MAX_BLOCKED_MS = 20_000;
/** A connection that is gone for longer, while that of the main thread works, counts as broken. */
const RECONNECT_LIMIT_MS = 10_000;

interface HeartbeatThreadSenderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly report: (report: HeartbeatThreadReport) => void;
  /** Called when this thread has no connection although the main thread has one, and again while that is so. */
  readonly reportUnreachable: (error: Error) => void;
}

/**
 * Keeps the leases of a process alive while its main thread is blocked. It renews them when a heartbeat of the main
 * thread is overdue, and reports which are confirmed. While the main thread is on time, it sends nothing.
 *
 * The main thread decides. This thread renews only leases that the main thread could renew itself, never one whose
 * deadline has passed on either clock. After an answer that shows other data, or a lease that is gone, it waits for
 * what the main thread says.
 */
export class HeartbeatThreadSender {
  #main: HeartbeatThreadState | undefined;
  /** Those that it renews. */
  #leases = new Map<LeaseId, Lease>();
  #isUnderWay = false;
  #timer: Timer | undefined;
  /** Since when there is no connection, and why. */
  #outage: { readonly sinceMs: number; readonly error: Error } | undefined;

  constructor(private readonly parts: HeartbeatThreadSenderParts) {}

  /** Takes over the state of the main thread. */
  receive(state: HeartbeatThreadState): void {
    if (this.#main === undefined) this.#open();
    this.#main = state;
    this.#leases = new Map(state.leases.map(({ id, deadline }) => [id, new Lease(id, deadline)]));
    const confirmedMs = Math.max(...state.leases.map(({ id, deadline }) => deadline.now - trustedMs(ttlOf(id))));
    // an outage of both threads is reported by the main thread
    if (this.#outage !== undefined && confirmedMs - this.#outage.sinceMs >= RECONNECT_LIMIT_MS)
      this.parts.reportUnreachable(this.#outage.error);
    this.#scheduleCheck();
  }

  /**
   * The process ends, and nothing of it runs any more: ends its leases in the store, so that other replicas need not
   * wait. Never rejects.
   */
  async endLeases(): Promise<void> {
    const { store } = this.parts;
    const revoke = this.#main?.leases.map(({ id }) => id) ?? [];
    this.#timer?.cancel();
    if (revoke.length === 0) return;
    try {
      await store.sync({ isNewcomer: false, renew: [], grant: [], revoke, read: [] });
      await store.publish?.('*');
    } catch {
      // the store is away: the leases end by themselves
    }
  }

  #open(): void {
    const { store, clock } = this.parts;
    store.addListener({
      connected: () => (this.#outage = undefined),
      disconnected: (error) => (this.#outage = { sinceMs: this.#outage?.sinceMs ?? clock.now(), error }),
    });
    store.open();
  }

  #scheduleCheck(): void {
    const { intervalMs = Infinity, sentAt = 0 } = this.#main ?? {};
    this.#timer?.cancel();
    if (this.#leases.size === 0) return;
    this.#timer = this.parts.clock.setTimer(intervalMs / CHECKS_PER_INTERVAL, () => {
      const silentMs = this.parts.clock.now() - sentAt;
      if (silentMs >= LATE_AFTER_INTERVALS * intervalMs && silentMs < MAX_BLOCKED_MS) void this.#renew();
      this.#scheduleCheck();
    });
  }

  async #renew(): Promise<void> {
    const { store, clock, report } = this.parts;
    const { incarnation = '' } = this.#main ?? {};
    const renew = [...this.#leases.values()].filter((lease) => lease.isValid(clock)).map(({ id }) => id);
    // where the server hides itself, a restart would go unseen
    const isHidden = incarnation.startsWith('/');
    // a second request would only wait behind the first one on the connection
    if (this.#isUnderWay || renew.length === 0 || isHidden) return;
    this.#isUnderWay = true;
    const sent = instant(clock);
    try {
      const result = await store.sync({ isNewcomer: false, renew, grant: [], revoke: [], read: [] });
      // the main thread knows of other data already
      if (this.#main?.incarnation !== incarnation) return;
      for (const id of renew) {
        const isKept = result.incarnation.id === incarnation && result.leases.has(id);
        const lease = this.#leases.get(id);
        if (!isKept) this.#leases.delete(id);
        else if (lease !== undefined) {
          lease.extend(sent);
          report({ incarnation, id, sent });
        }
      }
    } catch {
      // the next check tries again, and the main thread reports outages
    } finally {
      this.#isUnderWay = false;
    }
  }
}
