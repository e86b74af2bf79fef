import { type Clock } from '../../time/index.js';
import { InMemoryLocks } from './in-memory-locks.js';
import { type Listeners } from '../listeners.js';

/** What a Redis server is to its clients: one set of locks, and messages to everybody who is connected. */
export class InMemoryServer {
  readonly locks: InMemoryLocks;
  readonly #clients = new Set<Listeners>();
  readonly #receivers = new Map<string, number>();

  constructor(clock: Clock) {
    this.locks = new InMemoryLocks(clock);
  }

  connect(client: Listeners): void {
    this.#clients.add(client);
  }

  disconnect(client: Listeners): void {
    this.#clients.delete(client);
  }

  publish(by: string, names: readonly string[]): void {
    const message = { by, names, receivers: this.#receivers.get(by) ?? 0 };
    this.#receivers.set(by, this.#clients.size);
    for (const client of this.#clients) {
      queueMicrotask(() => {
        if (this.#clients.has(client)) client.released(message);
      });
    }
  }
}
