import { asStoreError, ConnectionFunctionError } from '../base/errors/store.error.js';
import { type Notify } from '../base/events/events.js';
import { MIN_REMINDER_MS, nextReminderAt } from '../base/time/backoff.js';
import { type Clock } from '../base/time/clock.js';
import { ALL_JOBS } from './record.js';

/** A single request that fails is not worth a line: it is sent again at once. */
const FAILURES_OF_OUTAGE = 2;
/** An outage that begins so soon after the last one is the same, and is reported when it has lasted for so long. */
const SAME_OUTAGE_MS = 10_000;

interface Trouble {
  readonly isUnreachable: boolean;
  readonly beganAt: number;
  /** When the first one of a series began. */
  readonly firstAt: number;
  /** For how long the store has answered since then. */
  readonly answeredMs: number;
  /** When it is reported next. */
  remindAt: number;
  /** It was reported since it began, not only the outage before it. */
  isReported: boolean;
  /** It was reported that the function `connection` failed. */
  isExplained?: boolean;
}

/**
 * What is wrong with the store, as one line when it begins, reminders while it lasts, and one line when it is over.
 * Without a job it concerns all jobs: the connection, or what all need. With a job it concerns its record only.
 */
export class Outages {
  /** What is wrong now, by job. Undefined: for all jobs. */
  readonly #troubles = new Map<string | undefined, Trouble>();
  /** The last outage of the connection, and when it was over. */
  #lastOutage: (Trouble & { readonly endedAt: number }) | undefined;
  /** How many requests in a row have failed. */
  #failures = 0;
  /** When a heartbeat was answered last. */
  #answeredAt = -Infinity;
  /** When a write was denied. -Infinity: the last one was not. */
  #writeDeniedAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  /** For how long the store cannot be reached. 0: it can. */
  get unreachableMs(): number {
    const trouble = this.#troubles.get(undefined);
    return trouble?.isUnreachable ? this.clock.now() - trouble.beganAt : 0;
  }

  /** A sync failed, or a write. */
  requestFailed(thrown: unknown): void {
    const error = asStoreError(thrown);
    this.#failures += 1;
    if (error.code !== 'STORE_UNREACHABLE' || this.#failures >= FAILURES_OF_OUTAGE || this.#troubles.has(undefined))
      this.report(error);
  }

  /** A heartbeat that was sent at `sentAt` was answered. */
  answered(sentAt: number, isOtherServer: boolean): void {
    this.#failures = 0;
    this.#answeredAt = this.clock.now();
    // writes may still be denied; but a replica that has nothing to write any more never learns that they are not
    const areWritesDenied = this.#answeredAt < this.#writeDeniedAt + MIN_REMINDER_MS;
    const trouble = this.#troubles.get(undefined);
    // the answer may have arrived together with the end of its connection
    if (trouble === undefined || sentAt < trouble.beganAt || (areWritesDenied && !trouble.isUnreachable)) return;
    this.#troubles.delete(undefined);
    if (!trouble.isUnreachable) return;
    this.#lastOutage = { ...trouble, endedAt: this.#answeredAt };
    if (!trouble.isReported && !isOtherServer) return;
    const outageMs = this.#answeredAt - trouble.firstAt - trouble.answeredMs;
    this.notify('storeRecovered', { outageMs, ...(isOtherServer && { hasRestarted: true }) });
  }

  /** A write was answered, or has failed. */
  wrote(failure: unknown): void {
    const isDenied = failure !== undefined && asStoreError(failure).code !== 'STORE_UNREACHABLE';
    this.#writeDeniedAt = isDenied ? this.clock.now() : -Infinity;
    if (failure !== undefined) this.requestFailed(failure);
  }

  /** The record can be read. */
  allowed(job: string): void {
    this.#troubles.delete(job);
  }

  /** The connection is lost or could not be opened, or a record cannot be read. */
  report(thrown: unknown, job?: string): void {
    const error = asStoreError(thrown);
    const now = this.clock.now();
    const isUnreachable = error.code === 'STORE_UNREACHABLE';
    const before = this.#troubles.get(job);
    const trouble = before?.isUnreachable === isUnreachable ? before : this.#begin(isUnreachable, now, before?.beganAt);
    this.#troubles.set(job, trouble);
    // the connection was lost before it was known why there is no other
    const isExplained = error.cause instanceof ConnectionFunctionError;
    const mustExplain = isExplained && trouble.isExplained !== true;
    const hasLasted = !trouble.isReported && now >= trouble.beganAt + SAME_OUTAGE_MS;
    if (now < trouble.remindAt && !mustExplain && !hasLasted) return;
    trouble.isReported = true;
    trouble.isExplained ||= isExplained;
    const forMs = now - trouble.firstAt - trouble.answeredMs;
    trouble.remindAt = nextReminderAt(trouble.firstAt, now);
    if (isUnreachable) this.notify('storeUnreachable', { error, outageMs: forMs });
    else {
      const isOfOne = job !== undefined && job !== ALL_JOBS;
      this.notify('requestDenied', { ...(isOfOne && { job }), error, deniedMs: forMs });
    }
  }

  #begin(isUnreachable: boolean, now: number, since = now): Trouble {
    const beganAt = Math.max(since, this.#answeredAt);
    const last = this.#lastOutage;
    if (!isUnreachable || last === undefined || now >= last.endedAt + SAME_OUTAGE_MS)
      return { isUnreachable, beganAt, firstAt: beganAt, answeredMs: 0, remindAt: now, isReported: false };
    const answeredMs = last.answeredMs + beganAt - last.endedAt;
    return { ...last, beganAt, answeredMs, isReported: false };
  }
}
