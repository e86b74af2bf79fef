import { type LockStore } from 'nestjs-singleton-job';
import { InMemoryLockStore, TestServer, ManualClock } from 'nestjs-singleton-job/testing';

/** Stands in for the server of a store of your own. */
export class MyServer {
  readonly #clock = new ManualClock();
  readonly #server = new TestServer(this.#clock);
  readonly #stores: LockStore[] = [];

  async connect(): Promise<LockStore> {
    const store = new InMemoryLockStore(this.#server);
    this.#stores.push(store);
    store.open();
    return store;
  }

  async setLock(name: string, holder: string, ttlMs?: number): Promise<void> {
    this.#server.occupy(name, holder, ttlMs);
  }

  async deleteEverything(): Promise<void> {
    this.#server.loseData();
  }

  async deleteSessions(): Promise<void> {
    this.#server.loseSessions();
  }

  async deleteState(name: string): Promise<void> {
    this.#server.forget(name);
  }

  async restart(): Promise<void> {
    this.#server.restart(this.#server.snapshot());
  }

  async passTime(ms: number): Promise<void> {
    await this.#clock.advance(ms);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }
}
