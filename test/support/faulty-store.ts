import { LockStoreError, type LockStoreErrorCode } from '../../libs/singleton-job/src/errors/index.js';
import { type LockStore } from '../../libs/singleton-job/src/store/index.js';
import {
  type ForwardedCommand,
  ForwardingStore,
} from '../../libs/singleton-job/src/testing/replicas/forwarding-store.js';
import { type Clock } from '../../libs/singleton-job/src/time/index.js';

export type Command = ForwardedCommand;

/**
 * What happens to a command: it is `carried` out and answered; it is carried out but its answer is `unanswered`; it is
 * `lost` on its way and never answered; or it fails with a code before it is carried out.
 */
export type Fate = 'carried' | 'unanswered' | 'lost' | LockStoreErrorCode;

/** A store between one replica and its real one, on which a test decides the fate of each command. */
export class FaultyStore extends ForwardingStore {
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

  constructor(
    store: LockStore,
    private readonly clock: Clock,
  ) {
    super(store);
  }

  /** Loses the subscription. */
  deafen(): void {
    this.hearsReleases = false;
    for (const listener of this.listeners) listener.deaf?.();
  }

  /** Has a subscription again. */
  hearAgain(): void {
    this.hearsReleases = true;
    for (const listener of this.listeners) listener.hearing?.();
  }

  /** Has another connection in the place of the one before. */
  reconnect(): void {
    for (const listener of this.listeners) listener.reachable?.();
  }

  override async close(): Promise<void> {
    this.#isOpen = false;
    await super.close();
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

  protected send<T>(command: Command, name: string, carryOut: () => Promise<T>): Promise<T> {
    this.sent.push({ command, name });
    const fate = this.fate(command, name);
    const never = new Promise<T>(() => undefined);
    if (fate === 'carried') return this.#heldBack(carryOut());
    if (fate === 'unanswered') return carryOut().then(() => never);
    if (fate === 'lost') return never;
    return Promise.reject(new LockStoreError(fate, `made to fail with ${fate}`));
  }

  protected hear(tell: () => void): void {
    if (this.hearsReleases && this.#isOpen) tell();
  }
}
