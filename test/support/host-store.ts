import { type LockStore } from '../../libs/singleton-job/src/store/index.js';
import {
  type ForwardedRequest,
  ForwardingStore,
} from '../../libs/singleton-job/src/testing/replicas/forwarding-store.js';
import { type ProcessClock } from '../simulation/process-clock.js';

/** A store as a process reaches it that may stand still, and then receives later, or be dead, and then neither sends nor receives. */
export class HostStore extends ForwardingStore {
  #isCutOff = false;

  constructor(
    store: LockStore,
    private readonly clock: ProcessClock,
  ) {
    super(store);
    store.listen({
      connected: () => {
        this.receive(() => {
          for (const listener of this.listeners) listener.connected?.();
        });
      },
      disconnected: (error) => {
        this.receive(() => {
          for (const listener of this.listeners) listener.disconnected?.(error);
        });
      },
    });
  }

  /** Sends and receives nothing any more. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  get isSubscribed(): boolean {
    return this.store.isSubscribed;
  }

  protected async send<T>(_request: ForwardedRequest, _name: string, carryOut: () => Promise<T>): Promise<T> {
    const answer = this.#isCutOff ? new Promise<T>(() => undefined) : carryOut();
    // an answer and a failure travel alike
    await answer.catch(() => undefined);
    await new Promise<void>((arrive) => {
      this.clock.deliver(arrive);
    });
    return answer;
  }

  protected receive(deliver: () => void): void {
    this.clock.deliver(deliver);
  }
}
