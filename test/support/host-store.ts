import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../../libs/singleton-job/src/lock/index.js';
import { type ProcessClock } from '../simulation/process-clock.js';

/** A store as a process reaches it that may stand still, and then hears later, or be dead, and then neither asks nor hears. */
export class HostStore implements LockStore {
  #isCutOff = false;

  constructor(
    private readonly store: LockStore,
    private readonly clock: ProcessClock,
  ) {}

  /** Sends and hears nothing any more. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  get hearsReleases(): boolean {
    return this.store.hearsReleases;
  }

  acquire(bid: Bid): Promise<Grant | Refusal> {
    return this.#send(() => this.store.acquire(bid));
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.#send(() => this.store.renew(renewal));
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    return this.#send(() => this.store.claim(claim));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.#send(() => this.store.release(release));
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.#send(() => this.store.announce(by, names));
  }

  batch(send: () => void): void {
    send();
  }

  listen(listener: LockStoreListener): () => void {
    return this.store.listen({
      released: (message) => {
        this.clock.deliver(() => listener.released?.(message));
      },
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
    });
  }

  open(): void {
    this.store.open();
  }

  close(): Promise<void> {
    return this.store.close();
  }

  async #send<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.#isCutOff ? new Promise<T>(() => undefined) : ask();
    // an answer and a failure travel alike
    await answer.catch(() => undefined);
    await new Promise<void>((arrive) => {
      this.clock.deliver(arrive);
    });
    return answer;
  }
}
