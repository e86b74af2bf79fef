import { type LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Notify } from '../../base/events/events.js';
import { type Clock } from '../../base/time/clock.js';
import { type RequestKind } from './store-client.js';

/** What failed: a request about one lock, or, without a name, something that all locks need. */
interface ReportedRequest {
  readonly name: string | undefined;
  readonly kind: RequestKind | 'connection' | 'messages';
}

interface Report {
  /** What fails, each with the lock of the first request that failed so. */
  readonly kinds: Map<ReportedRequest['kind'], string | undefined>;
  readonly isUnreachable: boolean;
  readonly sinceMs: number;
  lastMs: number;
  remindAtMs: number;
}

/** Keys of `LockService` may contain tenants: the oldest reports are forgotten. */
const MOST_REPORTS = 1_000;
/** A failed request is sent again within half a second. A lock with no failure for so long is no longer requested. */
const STILL_REQUESTED_MS = 5_000;
const FIRST_REMINDER_MS = 60_000;

/** An error that lasts is reported again after 1 min, 2 min, 4 min and so on. */
export function nextReminderMs(sinceMs: number, nowMs: number): number {
  return sinceMs + Math.max(FIRST_REMINDER_MS, 2 * (nowMs - sinceMs));
}

/**
 * The errors that were reported and last. An error is reported when it begins, and again as a reminder while it lasts. After a
 * request of the same kind worked, the next error counts as a new one.
 */
export class ReportedErrors {
  readonly #reports = new Map<string | undefined, Report>();

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  /** `failures` counts those in a row: a single answer that got lost is not worth a line. */
  failed(request: ReportedRequest, error: LockStoreError, failures: number): void {
    const { kind } = request;
    const name = error.affectsAllJobs ? undefined : request.name;
    const isUnreachable = error.code === 'STORE_UNREACHABLE';
    const now = this.clock.now();
    const known = this.#reports.get(name);
    if (known === undefined && isUnreachable && failures < 2) return;
    const report = known ?? { kinds: new Map(), isUnreachable, sinceMs: now, lastMs: now, remindAtMs: now };
    if (!report.kinds.has(kind)) report.kinds.set(kind, request.name);
    report.lastMs = now;
    if (now < report.remindAtMs) return;
    report.remindAtMs = nextReminderMs(report.sinceMs, now);
    this.#reports.set(name, report);
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > MOST_REPORTS) this.#reports.delete(oldest);
    const job = name !== undefined && { job: name };
    const forMs = now - report.sinceMs;
    if (report.isUnreachable) this.notify('storeUnreachable', { ...job, error, outageMs: forMs });
    else this.notify('requestDenied', { ...job, error, deniedMs: forMs });
  }

  /** Answers whether this was the end of an error that was reported. */
  succeeded(name: string | undefined, kind: ReportedRequest['kind']): boolean {
    const ofOne = this.#endOf(name, kind);
    // An error of all locks ends when the lock with which it began works again: other locks may have been permitted all the time.
    // An unreachable store is excepted: one lock that answers says nothing about the sessions.
    const ofAll = this.#reports.get(undefined);
    const mayEndAll = name !== undefined && ofAll?.isUnreachable === false && ofAll.kinds.get(kind) === name;
    return (mayEndAll && this.#endOf(undefined, kind)) || ofOne;
  }

  /** The locks that cannot be reached, and for how long. */
  unreachable(): readonly (readonly [name: string | undefined, forMs: number])[] {
    const now = this.clock.now();
    return [...this.#reports]
      .filter(([, { isUnreachable, lastMs }]) => isUnreachable && now - lastMs < STILL_REQUESTED_MS)
      .map(([name, { sinceMs }]) => [name, now - sinceMs]);
  }

  #endOf(name: string | undefined, kind: ReportedRequest['kind']): boolean {
    const report = this.#reports.get(name);
    if (report === undefined) return false;
    report.kinds.delete(kind);
    // a replica that acquires a lock has no older one to renew or release
    if (kind === 'acquire' && name !== undefined)
      for (const other of ['renew', 'claim', 'release'] as const) report.kinds.delete(other);
    // any answer shows that the lock can be reached
    if (report.isUnreachable) report.kinds.clear();
    if (report.kinds.size > 0) return false;
    this.#reports.delete(name);
    if (report.isUnreachable) {
      const outageMs = this.clock.now() - report.sinceMs;
      this.notify('storeRecovered', { ...(name !== undefined && { job: name }), outageMs });
    }
    return true;
  }
}
