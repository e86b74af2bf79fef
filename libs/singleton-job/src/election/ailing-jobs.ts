import { type LockStoreError } from '../errors/index.js';
import { type Notify } from '../events/index.js';
import { type Clock } from '../time/index.js';

/**
 * Jobs that failed while others were answered: a hash slot without a server, say. The next failure of such a job is its
 * own trouble, told once with its name, and no sign of an outage.
 */
export class AilingJobs {
  readonly #jobs = new Map<string, { readonly sinceMs: number; isTold: boolean }>();

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  has(job: string): boolean {
    return this.#jobs.has(job);
  }

  /** Whether it has failed again since, and was told. */
  isTold(job: string): boolean {
    return this.#jobs.get(job)?.isTold === true;
  }

  /** It failed, and somebody else was answered after that. */
  suspect(job: string): void {
    if (!this.#jobs.has(job)) this.#jobs.set(job, { sinceMs: this.clock.now(), isTold: false });
  }

  /** One that is ailing failed again. */
  failed(job: string, error: LockStoreError): void {
    const ailing = this.#jobs.get(job);
    if (ailing === undefined || ailing.isTold) return;
    ailing.isTold = true;
    this.notify('storeUnreachable', { job, error });
  }

  /** Those that were told, each with the time since which it has failed. */
  get told(): readonly (readonly [job: string, sinceMs: number])[] {
    return [...this.#jobs].filter(([, { isTold }]) => isTold).map(([job, { sinceMs }]) => [job, sinceMs]);
  }

  /** Nobody asks for it any more: nobody will know whether it would be answered. */
  forget(job: string): void {
    this.#jobs.delete(job);
  }

  /** It was answered. */
  answered(job: string): void {
    const ailing = this.#jobs.get(job);
    this.#jobs.delete(job);
    if (ailing?.isTold === true) this.notify('storeRecovered', { job, outageMs: this.clock.now() - ailing.sinceMs });
  }
}
