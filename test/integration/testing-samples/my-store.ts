import { type LockStore } from 'nestjs-singleton-job';
import { InMemoryLockStore, ManualClock } from 'nestjs-singleton-job/testing';

/** Stands in for the server of somebody's own store. */
export class MyServer {
  readonly #clock = new ManualClock();
  readonly #first = new InMemoryLockStore(this.#clock);
  readonly #stores: LockStore[] = [this.#first];

  async connect(): Promise<LockStore> {
    const store = this.#stores.length === 1 ? this.#first : this.#first.replica();
    this.#stores.push(store);
    return store;
  }

  async setLock(name: string, holder: string, ttlMs?: number): Promise<void> {
    this.#first.occupy(name, holder, ttlMs);
  }

  async wipe(): Promise<void> {
    this.#first.loseData();
  }

  async passTime(ms: number): Promise<void> {
    await this.#clock.advance(ms);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }
}
