import { type JobEvents, type JobObserver } from '../events/index.js';
import { type Clock, instant, type Instant } from '../time/index.js';

/** Remembers what health depends on and only events tell: since when terms go on. */
export class HealthWatch implements JobObserver {
  readonly #terms = new Map<string, Instant>();

  constructor(private readonly clock: Clock) {}

  /** When this replica began to lead the job; undefined if it never did. */
  termBegan(job: string): Instant | undefined {
    return this.#terms.get(job);
  }

  leadershipGained({ job, waitMs = 0 }: JobEvents['leadershipGained']): void {
    const { now, wall } = instant(this.clock);
    this.#terms.set(job, { now: now + waitMs, wall: wall + waitMs });
  }
}
