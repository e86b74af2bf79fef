import { asLockStoreError, type LockStoreError } from '../errors/index.js';
import { type Holder, type LockStore, type Progress } from '../store/index.js';
import { type Clock, sleep } from '../time/index.js';
import { type Complaints, MESSAGES, type Refused } from './complaints.js';
import { Inquiry } from './inquiry.js';
import { type StoreGate } from './store-gate.js';

export interface Freeing {
  readonly job: string;
  readonly holder: Holder;
  /** What goes with the release, asked anew for each try: it carries an age. */
  readonly progress: () => Progress;
  readonly deadlineMs: number;
}

export interface ReleasesParts {
  readonly store: LockStore;
  readonly gate: StoreGate;
  readonly complaints: Complaints;
  readonly clock: Clock;
  readonly heartbeatIntervalMs: number;
  /** Who releases: the part of the holder before the `#`. */
  readonly by: string;
  /** Aborts when the connections are about to close. */
  readonly closing: AbortSignal;
}

type Freed = 'freed' | 'not-ours';

/** A message nobody may have heard is worth a second one, and not more. */
const ANNOUNCEMENTS = 2;

/**
 * Gives locks back. One by one, the store wakes the followers itself. In a stop the releases leave together, and one
 * message names those that a batch of answers confirmed, so that followers are woken once and not a thousand times.
 */
export class Releases {
  #isStopping = false;
  #outgoing: (() => void)[] = [];
  #freed: string[] = [];
  #announcing = Promise.resolve();

  constructor(private readonly parts: ReleasesParts) {}

  /** From now on releases are quiet, announced together, and tried until they are answered: nobody else cleans up. */
  beginStop(): void {
    this.#isStopping = true;
  }

  /** The time for a stop is over: what is not freed by now is left to expire, and nobody waits for it any longer. */
  endStop(): void {
    this.#isStopping = false;
  }

  /** Whether the store has confirmed that the lock is not ours any more. Never rejects: what fails is left to expire. */
  async free(freeing: Freeing): Promise<boolean> {
    const { closing } = this.parts;
    const inquiry = new Inquiry<Freed>(closing);
    let isQuiet = this.#isStopping;
    let tries = 0;
    do {
      isQuiet = this.#isStopping;
      tries += 1;
      await this.#try(freeing, isQuiet, inquiry);
    } while (!inquiry.done.aborted && this.#isStopping);
    inquiry.close();
    // not ours after an unknown try: that try has freed it
    const isFreed = inquiry.answer === 'freed' || (inquiry.answer === 'not-ours' && tries > 1);
    if (isQuiet && isFreed) await this.#announced(freeing);
    return inquiry.answer !== undefined;
  }

  async #try({ job, holder, progress, deadlineMs }: Freeing, quietly: boolean, inquiry: Inquiry<Freed>): Promise<void> {
    const { store, gate, complaints } = this.parts;
    const send = async (): Promise<void> => {
      const { released } = await store.release({ name: job, holder, progress: progress(), quietly });
      complaints.settle({ job, what: 'release' });
      inquiry.answered(released ? 'freed' : 'not-ours');
    };
    const ask = () => gate.ask({ job, asker: 'leader', deadlineMs, signal: inquiry.done, send });
    try {
      await (quietly ? this.#withOthers(ask) : ask());
    } catch (error: unknown) {
      await this.#afterFailure({ job, what: 'release' }, asLockStoreError(error));
    }
  }

  /** What is asked within one turn of the event loop leaves in one write. */
  #withOthers<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, store } = this.parts;
    return new Promise((resolve, reject) => {
      this.#outgoing.push(() => {
        ask().then(resolve, reject);
      });
      if (this.#outgoing.length > 1) return;
      void clock.afterIo().then(() => {
        const outgoing = this.#outgoing;
        this.#outgoing = [];
        store.batch(() => {
          for (const go of outgoing) go();
        });
      });
    });
  }

  /** Resolves once followers were told, in one message for all releases that were confirmed within one read. */
  #announced({ job, deadlineMs }: Freeing): Promise<void> {
    this.#freed.push(job);
    if (this.#freed.length === 1) {
      this.#announcing = this.parts.clock.afterIo().then(() => {
        const names = this.#freed;
        this.#freed = [];
        return this.#announce(names, deadlineMs);
      });
    }
    return this.#announcing;
  }

  async #announce(names: readonly string[], deadlineMs: number): Promise<void> {
    const { store, gate, by, closing } = this.parts;
    const [job = ''] = names;
    for (let tries = 0; tries < ANNOUNCEMENTS && !closing.aborted; tries++) {
      try {
        await gate.ask({ job, asker: 'leader', deadlineMs, signal: closing, send: () => store.announce(by, names) });
        return;
      } catch (error: unknown) {
        const failure = asLockStoreError(error);
        if (failure.code === 'STORE_UNREACHABLE') continue;
        // a refusal is certain
        this.parts.complaints.raise(MESSAGES, failure);
        return;
      }
    }
    // followers find out when the locks would have expired
  }

  /** While the store is unreachable the gate sets the pace. */
  async #afterFailure(refused: Refused, error: LockStoreError): Promise<void> {
    if (error.code === 'STORE_UNREACHABLE') return;
    this.parts.complaints.raise(refused, error);
    await sleep(this.parts.clock, this.parts.heartbeatIntervalMs, this.parts.closing);
  }
}
