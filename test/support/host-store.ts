import { type LockStore } from '../../libs/singleton-job/src/store/index.js';
import {
  type ForwardedCommand,
  ForwardingStore,
} from '../../libs/singleton-job/src/testing/replicas/forwarding-store.js';
import { type ProcessClock } from '../simulation/process-clock.js';

/** A store as a process reaches it that may stand still, and then hears later, or be dead, and then neither asks nor hears. */
export class HostStore extends ForwardingStore {
  #isCutOff = false;

  constructor(
    store: LockStore,
    private readonly clock: ProcessClock,
  ) {
    super(store);
  }

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

  protected async send<T>(_command: ForwardedCommand, _name: string, ask: () => Promise<T>): Promise<T> {
    const answer = this.#isCutOff ? new Promise<T>(() => undefined) : ask();
    // an answer and a failure travel alike
    await answer.catch(() => undefined);
    await new Promise<void>((arrive) => {
      this.clock.deliver(arrive);
    });
    return answer;
  }

  protected hear(tell: () => void): void {
    this.clock.deliver(tell);
  }
}
