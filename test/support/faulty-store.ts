import { LockStoreError, type LockStoreErrorCode } from '../../libs/singleton-job/src/errors/index.js';
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
import { type Clock } from '../../libs/singleton-job/src/time/index.js';

export type Command = 'acquire' | 'renew' | 'claim' | 'release' | 'announce';

/**
 * What happens to a command: it is `carried` out and answered; it is carried out but its answer is `unanswered`; it is
 * `lost` on its way and never answered; or it fails with a code before it is carried out.
 */
export type Fate = 'carried' | 'unanswered' | 'lost' | LockStoreErrorCode;

/** A store between one replica and its real one, on which a test decides the fate of each command. */
export class FaultyStore implements LockStore {
  /** Every command that was sent, in order. */
  readonly sent: { readonly command: Command; readonly name: string }[] = [];
  /** Decides the fate of each command. */
  fate: (command: Command, name: string) => Fate = () => 'carried';
  /** Holds back every answer until it resolves, once the command was carried out. */
  heldBack: Promise<void> | undefined;
  /** How long each answer takes, once the command was carried out. */
  delayMs = 0;
  /** Whether releases are heard of. */
  hearsReleases = true;
  #isOpen = true;
  readonly #listeners = new Set<LockStoreListener>();

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
  ) {}

  acquire(bid: Bid): Promise<Grant | Refusal> {
    return this.#send('acquire', bid.name, () => this.store.acquire(bid));
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.#send('renew', renewal.name, () => this.store.renew(renewal));
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    return this.#send('claim', claim.name, () => this.store.claim(claim));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.#send('release', release.name, () => this.store.release(release));
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.#send('announce', names.join(','), () => this.store.announce(by, names));
  }

  batch(send: () => void): void {
    send();
  }

  listen(listener: LockStoreListener): () => void {
    this.#listeners.add(listener);
    return this.store.listen({
      released: (message) => {
        if (this.hearsReleases && this.#isOpen) listener.released?.(message);
      },
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
    });
  }

  /** Loses the subscription. */
  deafen(): void {
    this.hearsReleases = false;
    for (const listener of this.#listeners) listener.deaf?.();
  }

  /** Has another connection in the place of the one before. */
  reconnect(): void {
    for (const listener of this.#listeners) listener.reachable?.();
  }

  open(): void {
    this.store.open();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.store.close();
  }

  /** How many times a command was sent. */
  count(command: Command): number {
    return this.sent.filter((sent) => sent.command === command).length;
  }

  async #heldBack<T>(answer: Promise<T>): Promise<T> {
    await this.heldBack;
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(this.delayMs, resolve));
    return answer;
  }

  #send<T>(command: Command, name: string, carryOut: () => Promise<T>): Promise<T> {
    this.sent.push({ command, name });
    const fate = this.fate(command, name);
    const never = new Promise<T>(() => undefined);
    if (fate === 'carried') return this.#heldBack(carryOut());
    if (fate === 'unanswered') return carryOut().then(() => never);
    if (fate === 'lost') return never;
    return Promise.reject(new LockStoreError(fate, `made to fail with ${fate}`));
  }
}
