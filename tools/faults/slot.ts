import { type ReplicaOrder } from '../../test/faults/replica/order.js';
import { type Proxy } from './proxy.js';
import { ReplicaProcess } from './replica-process.js';
import { type Witness } from './witness.js';

export interface SlotParts {
  readonly letter: string;
  readonly main: string;
  readonly witness: Witness;
  readonly proxy: Proxy;
  readonly order: Omit<ReplicaOrder, 'name' | 'redisUrl' | 'wallAheadMs'>;
}

/** A place for one replica, with its own way to Redis. Whoever starts in it is another process: a1, a2, a3. */
export class Slot {
  readonly proxy: Proxy;
  readonly #parts: SlotParts;
  #replica: ReplicaProcess;
  #started = 0;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.proxy = parts.proxy;
    this.#replica = this.start();
  }

  get replica(): ReplicaProcess {
    return this.#replica;
  }

  start({ wallAheadMs = 0 } = {}): ReplicaProcess {
    const { letter, main, witness, order, proxy } = this.#parts;
    this.#started += 1;
    const name = `${letter}${String(this.#started)}`;
    this.#replica = new ReplicaProcess(main, { ...order, name, redisUrl: proxy.url, wallAheadMs }, witness);
    return this.#replica;
  }
}
