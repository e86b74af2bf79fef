import { type LockStoreError } from '../../errors/index.js';
import { type Notify } from '../../events/index.js';
import { type Clock } from '../../time/index.js';
import { type RequestKind } from './store-client.js';

/** What failed: a request about one lock, or, without a name, something that all locks need. */
interface FailedRequest {
  readonly name: string | undefined;
  readonly kind: RequestKind | 'connection' | 'messages';
}

interface Report {
  readonly kinds: Set<FailedRequest['kind']>;
  readonly isUnreachable: boolean;
  readonly sinceMs: number;
  lastMs: number;
}

/** Keys of `LockService` may contain tenants: the oldest reports are forgotten. */
const MOST_REPORTS = 1_000;
/** Requests that fail are sent again within half a second. A lock with no failure for so long is no longer requested. */
const STILL_ASKED_MS = 5_000;

/**
 * Which errors were reported and go on, so that each is reported once: when it begins, and again only after the request
 * worked in between.
 */
export class ReportedErrors {
  readonly #reports = new Map<string | undefined, Report>();

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  /** `failures` counts those in a row: a single answer that got lost is not worth a line. */
  failed({ name, kind }: FailedRequest, error: LockStoreError, failures: number): void {
    const isUnreachable = error.code === 'STORE_UNREACHABLE';
    const known = this.#reports.get(name);
    if (known !== undefined) {
      known.kinds.add(kind);
      known.lastMs = this.clock.now();
      return;
    }
    if (isUnreachable && failures < 2) return;
    const now = this.clock.now();
    this.#reports.set(name, { kinds: new Set([kind]), isUnreachable, sinceMs: now, lastMs: now });
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > MOST_REPORTS) this.#reports.delete(oldest);
    this.notify(isUnreachable ? 'storeUnreachable' : 'requestDenied', {
      ...(name !== undefined && { job: name }),
      error,
    });
  }

  /** Answers whether this was the end of an error that was reported. */
  succeeded(name: string | undefined, kind: FailedRequest['kind']): boolean {
    const report = this.#reports.get(name);
    if (report === undefined) return false;
    report.kinds.delete(kind);
    // a replica that acquires a lock has none that could be renewed or released, and any answer shows that the lock can be reached
    if (kind === 'acquire' || report.isUnreachable) report.kinds.clear();
    if (report.kinds.size > 0) return false;
    this.#reports.delete(name);
    if (report.isUnreachable) {
      const outageMs = this.clock.now() - report.sinceMs;
      this.notify('storeRecovered', { ...(name !== undefined && { job: name }), outageMs });
    }
    return true;
  }

  /** The locks that cannot be reached, and for how long. */
  unreachable(): readonly (readonly [name: string | undefined, forMs: number])[] {
    const now = this.clock.now();
    return [...this.#reports]
      .filter(([, { isUnreachable, lastMs }]) => isUnreachable && now - lastMs < STILL_ASKED_MS)
      .map(([name, { sinceMs }]) => [name, now - sinceMs]);
  }
}
