import { type Redis } from 'ioredis';
import { type LockStoreError } from '../../errors/index.js';
import { Link } from './reconnecting-client.js';
import { redisError } from './redis-errors.js';

/** How often an idle subscription is asked whether it still stands, whatever the heartbeat of the leases. */
const PING_INTERVAL_MS = 3_000;

export interface SubscriptionOptions {
  readonly channel: string;
  /** Makes a client of its own for the subscription; undefined while there is nothing to connect to. */
  readonly create: () => Redis | undefined;
  readonly onSubscribed: () => void;
  readonly onMessage: (text: string) => void;
  /** A subscription that stood has ended. */
  readonly onDeaf: () => void;
  /** The server lets nobody subscribe until a person mends it. */
  readonly onRefused: (error: LockStoreError) => void;
}

/**
 * One subscription on one connection of its own. It is silent as a rule, so a ping every 3 s finds out whether the connection
 * still stands. One that does not answer is replaced.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #link: Link<Redis>;
  #isSubscribed = false;
  #pings: NodeJS.Timeout | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#link = new Link({
      create: options.create,
      onReady: (client) => {
        this.#begin(client);
      },
      onLost: () => {
        this.#end();
      },
    });
  }

  get isSubscribed(): boolean {
    return this.#isSubscribed && this.#link.client !== undefined;
  }

  open(): void {
    this.#link.open();
  }

  async close(): Promise<void> {
    this.#end();
    await this.#link.close();
  }

  #begin(client: Redis): void {
    client.on('message', (_channel, text) => {
      this.#options.onMessage(text);
    });
    this.#subscribe(client);
    this.#pings = setInterval(() => {
      // a refused subscription is tried again here: it may have been permitted meanwhile
      if (this.#isSubscribed) client.ping().catch(() => undefined);
      else this.#subscribe(client);
    }, PING_INTERVAL_MS);
  }

  #subscribe(client: Redis): void {
    client.subscribe(this.#options.channel).then(
      () => {
        if (client !== this.#link.client) return;
        this.#isSubscribed = true;
        this.#options.onSubscribed();
      },
      (error: unknown) => {
        const refused = redisError(error, `Redis refused to subscribe to '${this.#options.channel}'`);
        if (refused.code === 'STORE_MISCONFIGURED') this.#options.onRefused(refused);
      },
    );
  }

  #end(): void {
    clearInterval(this.#pings);
    if (this.#isSubscribed) this.#options.onDeaf();
    this.#isSubscribed = false;
  }
}
