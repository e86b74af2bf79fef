import { type Clock, instant, type Instant } from '../base/time/clock.js';
import { type SyncRequest } from '../store/store.js';
import { spreadMs } from './decide.js';
import { PAUSE_OF_ALL } from './record.js';

/** In one request, so that no answer blocks the store or the event loop for long. */
const MAX_NAMES = 400;
/** A sync that failed is sent again after a quarter of an interval, and after this at the latest. */
const MAX_RETRY_MS = 250;
/** How often a replica reads all records that gets no hints. */
const POLL_MS = 1_000;

/** A sync that was sent. */
export interface Sync {
  readonly request: SyncRequest;
  readonly sent: Instant;
  /** Orders what a replica has seen: one series numbers its syncs, as they leave, and the answers to its writes. */
  readonly sequence: number;
}

/**
 * When a sync leaves, and which records it reads. One is under way at a time: requests meanwhile are joined into
 * the next. Every interval one leaves, which reads a third of the names: so each record is seen every three intervals,
 * also if a hint is lost. Without hints it reads all names.
 */
export class Heartbeat {
  /** The names of the records that the next sync is to read. */
  readonly #requested = new Set<string>();
  /** When the next sync leaves for what is requested, by the monotonic clock. Infinity: nothing is requested. */
  #requestedAt = -Infinity;
  /** The sync that was sent and has neither been answered nor failed. */
  #underWay: Sync | undefined;
  /** When the last sync left that read the next third of the names, by the monotonic clock. */
  #sweptAt = -Infinity;
  /** How many names the thirds of this round have read: the next third begins there. */
  #cursor = 0;
  /** After a failed sync none leaves before that, by the monotonic clock. */
  #retryAt = -Infinity;
  /** The last number that {@link nextSequence} has given. */
  #lastSequence = 0;
  /** How long this replica waits before a request that all replicas send at one time. Drawn anew at each answer. */
  #jitterMs = 0;
  /** No hints arrive, so each regular sync reads all names. True until the store says that it listens for them. */
  #hasNoHints = true;
  /** When the last sync left, by the monotonic clock. */
  sentAt = -Infinity;

  /** How often a regular sync leaves. {@link adapt} shortens it for short leases. */
  intervalMs = this.usualIntervalMs;

  constructor(
    private readonly clock: Clock,
    private readonly usualIntervalMs: number,
    /** In [0, 1). */
    private readonly random: () => number,
  ) {}

  /**
   * A replica outlives two lost heartbeats. Where a third of a TTL is less than the interval, a quarter of it is the
   * interval.
   */
  adapt(minTtlMs: number): void {
    const maxMs = this.#hasNoHints ? Math.min(this.usualIntervalMs, POLL_MS) : this.usualIntervalMs;
    this.intervalMs = 3 * maxMs > minTtlMs ? minTtlMs / 4 : maxMs;
  }

  /** Reads this record with the next sync, which leaves at once, or at this monotonic time at the latest. */
  requestRead(name: string, at = -Infinity): void {
    this.#requested.add(name);
    this.#requestedAt = Math.min(this.#requestedAt, at);
  }

  /** The next sync leaves at once. */
  requestSync(): void {
    this.#requestedAt = -Infinity;
  }

  /** Whether hints arrive. */
  listening(isListening: boolean): void {
    this.#hasNoHints = !isListening;
  }

  /** A new connection: a failed sync need not wait. */
  retryNow(): void {
    this.#retryAt = -Infinity;
  }

  /** Larger than all before it, in the series of {@link Sync.sequence}. */
  nextSequence(): number {
    return (this.#lastSequence += 1);
  }

  /** When the next sync leaves, by the monotonic clock. Infinity while one is under way. */
  get dueAt(): number {
    if (this.#underWay !== undefined) return Infinity;
    return Math.max(Math.min(this.#requestedAt, this.#sweptAt + this.intervalMs), this.#retryAt);
  }

  /**
   * The next sync, which also reads the pause of all jobs. `names` are those of the other records that this replica
   * cares about, `always` those that each sync reads if it has a place. `isOfUse`: whether a request still is, as its
   * caller may have gone while the store was away.
   */
  next(
    leases: Omit<SyncRequest, 'read'>,
    names: readonly string[],
    always: readonly string[],
    isOfUse: (name: string) => boolean,
  ): Sync {
    const requested = [...new Set([...this.#requested, ...this.#nextSweep(names)])].filter(isOfUse);
    // what has no place here is requested again, but not `always`: they would take the place of the others without end
    const others = [...new Set([...requested, ...always])].slice(0, MAX_NAMES);
    // it counts for all jobs, so it has its place beside any number of others
    const read = [...new Set([PAUSE_OF_ALL, ...others])];
    this.#requested.clear();
    for (const name of requested.slice(MAX_NAMES)) this.#requested.add(name);
    this.#requestedAt = this.#requested.size > 0 ? -Infinity : Infinity;
    this.#underWay = { request: { ...leases, read }, sent: instant(this.clock), sequence: this.nextSequence() };
    this.sentAt = this.#underWay.sent.now;
    return this.#underWay;
  }

  /** `replicas`: how many are alive. */
  answered(replicas: number): void {
    this.#underWay = undefined;
    this.#jitterMs = this.random() * spreadMs(replicas);
  }

  /** For a request that all replicas send at one time. */
  get jitteredAt(): number {
    return this.clock.now() + this.#jitterMs;
  }

  /** It is not known whether it was carried out. It is sent again, with its names. */
  failed({ request }: Sync): void {
    this.#underWay = undefined;
    for (const name of request.read) this.requestRead(name);
    this.#retryAt = this.clock.now() + Math.min(this.intervalMs / 4, MAX_RETRY_MS);
  }

  #nextSweep(names: readonly string[]): readonly string[] {
    const now = this.clock.now();
    if (now < this.#sweptAt + this.intervalMs * 0.9) return [];
    this.#sweptAt = now;
    if (this.#hasNoHints) return names;
    const third = names.slice(this.#cursor, this.#cursor + Math.min(Math.ceil(names.length / 3), MAX_NAMES));
    const next = this.#cursor + third.length;
    this.#cursor = next >= names.length ? 0 : next;
    return third;
  }
}
