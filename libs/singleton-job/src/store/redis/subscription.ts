import { type Redis } from 'ioredis';
import { type LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Listeners } from '../listeners.js';
import { ReconnectingClient } from './reconnecting-client.js';

const PING_MS = 3_000;

interface SubscriptionOptions {
  readonly channel: string;
  readonly listeners: Listeners;
  /** Creates a client for the subscription only. Undefined while there is nothing to connect to. */
  readonly create: () => Promise<Redis | undefined>;
  readonly onMessage: (text: string) => void;
  /** Turns what Redis answered to `subscribe` into an error of the store. */
  readonly denied: (error: unknown) => LockStoreError;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * One subscription on its own connection. It normally receives nothing for a long time, so it pings the server every 3 s. The
 * watchdog closes the connection if no answer arrives.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #connection: ReconnectingClient<Redis>;
  #isSubscribed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#connection = new ReconnectingClient({
      create: options.create,
      onReady: (client) => {
        this.#begin(client);
      },
      onLost: () => {
        this.#end();
      },
      random: options.random,
    });
  }

  get isSubscribed(): boolean {
    return this.#isSubscribed && this.#connection.client !== undefined;
  }

  open(): void {
    this.#connection.open();
  }

  async close(): Promise<void> {
    this.#end();
    await this.#connection.close();
  }

  #begin(client: Redis): void {
    client.on('message', (_channel, text) => {
      if (this.isSubscribed) this.#options.onMessage(text);
    });
    this.#subscribe(client);
    this.#timer = setInterval(() => {
      // retry a denied subscription: it may be permitted by now
      if (this.#isSubscribed) client.ping().catch(() => undefined);
      else this.#subscribe(client);
    }, PING_MS);
  }

  #subscribe(client: Redis): void {
    const { channel, listeners, denied } = this.#options;
    client.subscribe(channel).then(
      () => {
        if (client !== this.#connection.client) return;
        this.#isSubscribed = true;
        listeners.each((listener) => listener.subscribed?.());
      },
      (error: unknown) => {
        const answer = denied(error);
        if (answer.code === 'STORE_MISCONFIGURED') listeners.each((listener) => listener.messagesDenied?.(answer));
      },
    );
  }

  #end(): void {
    clearInterval(this.#timer);
    const wasSubscribed = this.#isSubscribed;
    this.#isSubscribed = false;
    if (wasSubscribed) this.#options.listeners.each((listener) => listener.unsubscribed?.());
  }
}
