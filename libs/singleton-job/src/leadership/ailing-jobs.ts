import { type LockStoreError } from '../errors/index.js';
import { type Notify } from '../events/index.js';
import { type Clock } from '../time/index.js';
import { Notes } from './notes.js';

interface Ailing {
  readonly sinceMs: number;
  isTold: boolean;
}

/**
 * Jobs that failed while others were answered: a hash slot without a server, say. The next failure of such a job is its
 * own trouble, told once with its name, and no sign of an outage.
 */
export class AilingJobs {
  /** Who asks again, as after a lost term, goes on with the same trouble. */
  readonly #jobs = new Notes<string, Ailing>();

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  has(job: string): boolean {
    return this.#jobs.get(job) !== undefined;
  }

  /** Whether it has failed again since, and was told. */
  isTold(job: string): boolean {
    return this.#jobs.get(job)?.isTold === true;
  }

  /** It failed, and somebody else was answered after that. */
  suspect(job: string): void {
    if (!this.has(job)) this.#jobs.set(job, { sinceMs: this.clock.now(), isTold: false });
  }

  /** One that is ailing failed again. */
  failed(job: string, error: LockStoreError): void {
    const ailing = this.#jobs.get(job);
    if (ailing === undefined) return;
    this.#jobs.set(job, ailing);
    if (ailing.isTold) return;
    ailing.isTold = true;
    this.notify('storeUnreachable', { job, error });
  }

  /** Those that were told, each with the time since which it has failed. */
  get told(): readonly (readonly [job: string, sinceMs: number])[] {
    return this.#jobs
      .entries()
      .filter(([, { isTold }]) => isTold)
      .map(([job, { sinceMs }]) => [job, sinceMs]);
  }

  /** Nobody asks for it any more: nobody will know whether it would be answered. */
  leave(job: string): void {
    this.#jobs.leave(job);
  }

  /** It was answered. */
  answered(job: string): void {
    const ailing = this.#jobs.get(job);
    this.#jobs.delete(job);
    if (ailing?.isTold === true) this.notify('storeRecovered', { job, outageMs: this.clock.now() - ailing.sinceMs });
  }
}
