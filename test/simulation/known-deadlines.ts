import { type Holder, sessionOf } from '../../libs/singleton-job/src/store/lock-store.js';
import { type Instant } from '../../libs/singleton-job/src/base/time/clock.js';
import { type ProcessClock } from './process-clock.js';

/** Until when each process may rely on its sessions and locks, by its own clocks. */
export class KnownDeadlines {
  readonly #deadlines = new Map<string, Instant>();

  /** A session or a lock was confirmed. */
  confirm(process: string, id: string, deadline: Instant): void {
    const key = `${process} ${id}`;
    const known = this.#deadlines.get(key);
    if (known === undefined || known.now < deadline.now) this.#deadlines.set(key, deadline);
  }

  /** The rest of a lease. Negative after the deadline. */
  leaseLeftMs(
    { name, clock }: { readonly name: string; readonly clock: ProcessClock },
    job: string,
    holder: Holder,
  ): number {
    const left = [`${name} ${job} ${holder}`, `${name} ${sessionOf(holder) ?? ''}`].map((key) => {
      const deadline = this.#deadlines.get(key);
      if (deadline === undefined) return -Infinity;
      return Math.min(deadline.now - clock.now(), deadline.wall - clock.wallNow());
    });
    return Math.min(...left);
  }
}
