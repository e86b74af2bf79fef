import { type LockStoreError } from '../base/errors/lock-store.error.js';
import { Connection, type ConnectionParts, type Session } from './connection.js';
import { type Listeners } from './listeners.js';

/** How often to check that messages arrive: normally there are none for a long time. */
export const CHECK_EVERY_MS = 3_000;

interface SubscriptionParts<S extends Session> extends Omit<ConnectionParts<S>, 'onReady' | 'onLost'> {
  /** Whether messages arrive. Rejects where the server refuses them. */
  readonly check: (session: S) => Promise<boolean>;
  /** There is no connection, or a check was refused. */
  readonly onFailed: (error: LockStoreError) => void;
  readonly listeners: Listeners;
}

/** Receives hints on a connection of its own, and reports whether it does. */
export class Subscription<S extends Session> {
  readonly connection: Connection<S>;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: SubscriptionParts<S>) {
    this.connection = new Connection({
      ...parts,
      onReady: () => void this.#check(),
      onLost: (error) => {
        this.#stop();
        parts.onFailed(error);
      },
    });
    this.connection.open();
  }

  async close(): Promise<void> {
    this.#stop();
    await this.connection.close();
  }

  async #check(): Promise<void> {
    const { connection, parts } = this;
    const { session } = connection;
    const arrives = await connection.send('subscribe', parts.check).catch((error: unknown) => {
      parts.onFailed(error as LockStoreError);
      return false;
    });
    if (session !== connection.session) return;
    parts.listeners.listening(arrives);
    this.#timer = setTimeout(() => void this.#check(), CHECK_EVERY_MS).unref();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.parts.listeners.listening(false);
  }
}
