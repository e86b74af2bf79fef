import { type LockStoreError } from '../errors/index.js';
import { type Notify } from '../events/index.js';
import { Notes } from './notes.js';

/** What a store may refuse to a job, or to all of them: to tell and to hear of releases. */
export interface Refused {
  readonly job?: string;
  readonly what: 'bid' | 'lease' | 'release' | 'messages';
}

export const MESSAGES: Refused = { what: 'messages' };

/**
 * What the store refuses to whom in one process: told once for each name, and again only when the store had done it in
 * between. Whoever stops asking and asks again later, be it another request for the same lock, is told nothing new.
 */
export class Complaints {
  readonly #names = new Notes<string | undefined, Set<Refused['what']>>();

  /** `settled` is called when the store does what it has refused to somebody: it may do so for others now as well. */
  constructor(
    private readonly notify: Notify,
    private readonly settled: () => void,
  ) {}

  /** To how many that go on asking something is refused. */
  get size(): number {
    return this.#names.size;
  }

  /** The store refuses something. */
  readonly raise = ({ job, what }: Refused, error: LockStoreError): void => {
    const known = this.#names.get(job);
    this.#names.set(job, (known ?? new Set()).add(what));
    if (known === undefined) this.notify('storeMisconfigured', { ...(job !== undefined && { job }), error });
  };

  /** The store did what it may have refused before. */
  readonly settle = ({ job, what }: Refused): void => {
    const refused = this.#names.get(job);
    if (refused === undefined) return;
    refused.delete(what);
    // whoever bids has neither a lease nor a lock that could be refused
    if (what === 'bid') {
      refused.delete('lease');
      refused.delete('release');
    }
    if (refused.size > 0) return;
    this.#names.delete(job);
    this.settled();
  };

  /** Nobody asks for it any more. */
  leave(job: string): void {
    this.#names.leave(job);
  }
}
