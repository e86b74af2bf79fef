import { type JobEvents, type JobObserver } from '../events/index.js';
import { type Clock, instant, type Instant } from '../time/index.js';

/** Remembers what health depends on and only events tell: since when the store has not answered, and since when terms go on. */
export class HealthWatch implements JobObserver {
  readonly #outages = new Map<string | undefined, number>();
  readonly #terms = new Map<string, Instant>();

  constructor(private readonly clock: Clock) {}

  /** Every outage that goes on, of one job or, under undefined, of all: for how long. */
  get outages(): readonly (readonly [job: string | undefined, forMs: number])[] {
    return [...this.#outages].map(([job, sinceMs]) => [job, this.clock.now() - sinceMs]);
  }

  /** When this replica began to lead the job; undefined if it never did. */
  termBegan(job: string): Instant | undefined {
    return this.#terms.get(job);
  }

  leadershipGained({ job, waitMs = 0 }: JobEvents['leadershipGained']): void {
    const { now, wall } = instant(this.clock);
    this.#terms.set(job, { now: now + waitMs, wall: wall + waitMs });
  }

  storeUnreachable({ job }: JobEvents['storeUnreachable']): void {
    this.#outages.set(job, this.clock.now());
  }

  storeRecovered({ job }: JobEvents['storeRecovered']): void {
    this.#outages.delete(job);
  }
}
