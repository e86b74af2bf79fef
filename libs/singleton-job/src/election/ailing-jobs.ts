import { type LockStoreError } from '../errors/index.js';
import { type Notify } from '../events/index.js';
import { type Clock } from '../time/index.js';

interface Ailing {
  readonly sinceMs: number;
  isTold: boolean;
}

/** So many that nobody asks for any more are kept. */
const MOST_LEFT = 1_000;

/**
 * Jobs that failed while others were answered: a hash slot without a server, say. The next failure of such a job is its
 * own trouble, told once with its name, and no sign of an outage.
 */
export class AilingJobs {
  readonly #jobs = new Map<string, Ailing>();
  /** Those that nobody asks for any more, the latest of them: who asks again, as after a lost term, goes on with the same trouble. */
  readonly #left = new Map<string, Ailing>();

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
  ) {}

  has(job: string): boolean {
    return this.#find(job) !== undefined;
  }

  /** Whether it has failed again since, and was told. */
  isTold(job: string): boolean {
    return this.#find(job)?.isTold === true;
  }

  /** It failed, and somebody else was answered after that. */
  suspect(job: string): void {
    if (!this.has(job)) this.#jobs.set(job, { sinceMs: this.clock.now(), isTold: false });
  }

  /** One that is ailing failed again. */
  failed(job: string, error: LockStoreError): void {
    const ailing = this.#find(job);
    if (ailing === undefined) return;
    this.#left.delete(job);
    this.#jobs.set(job, ailing);
    if (ailing.isTold) return;
    ailing.isTold = true;
    this.notify('storeUnreachable', { job, error });
  }

  /** Those that were told, each with the time since which it has failed. */
  get told(): readonly (readonly [job: string, sinceMs: number])[] {
    return [...this.#jobs].filter(([, { isTold }]) => isTold).map(([job, { sinceMs }]) => [job, sinceMs]);
  }

  /** Nobody asks for it any more: nobody will know whether it would be answered. */
  leave(job: string): void {
    const ailing = this.#jobs.get(job);
    if (ailing === undefined) return;
    this.#jobs.delete(job);
    this.#left.set(job, ailing);
    const [oldest] = this.#left.keys();
    if (this.#left.size > MOST_LEFT && oldest !== undefined) this.#left.delete(oldest);
  }

  /** It was answered. */
  answered(job: string): void {
    const ailing = this.#find(job);
    this.#jobs.delete(job);
    this.#left.delete(job);
    if (ailing?.isTold === true) this.notify('storeRecovered', { job, outageMs: this.clock.now() - ailing.sinceMs });
  }

  #find(job: string): Ailing | undefined {
    return this.#jobs.get(job) ?? this.#left.get(job);
  }
}
