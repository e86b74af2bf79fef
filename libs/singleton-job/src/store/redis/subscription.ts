import { type Redis } from 'ioredis';
import { type Listeners } from '../listeners.js';
import { type ConnectionSettings, RedisConnection } from './redis-connection.js';

const PING_MS = 3_000;
/** More names in one message are published as `*`. */
const MOST_NAMES = 100;

interface SubscriptionParts {
  readonly channel: string;
  readonly listeners: Listeners;
  /** Redis refused to subscribe. It is asked again every 3 s: it may permit it by then. */
  readonly onDenied: (error: unknown) => void;
}

/** Receives hints on a connection of its own. It normally receives nothing for a long time, so it pings the server every 3 s. */
export class Subscription {
  readonly #connection: RedisConnection<Redis>;
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: Redis,
    settings: ConnectionSettings,
    private readonly parts: SubscriptionParts,
  ) {
    this.#connection = new RedisConnection(client, settings, { onReady: this.#begin, onLost: this.#end });
    client.on('message', (_channel, text) => {
      const names = text === '*' ? text : text.split('\n');
      if (this.#isListening) parts.listeners.each((listener) => listener.hint?.(names));
    });
    this.#connection.open();
  }

  async close(): Promise<void> {
    const closed = this.#connection.close();
    this.#end();
    await closed;
  }

  readonly #begin = (): void => {
    this.#ping();
    this.#timer = setInterval(this.#ping, PING_MS);
  };

  readonly #ping = (): void => {
    const { client } = this.#connection;
    const answer = this.#isListening ? client.ping() : client.subscribe(this.parts.channel);
    answer.then(this.#answered, (error: unknown) => {
      if (this.#connection.state === 'ready' && !this.#isListening) this.parts.onDenied(error);
    });
  };

  readonly #answered = (): void => {
    if (this.#connection.state !== 'ready') return;
    this.#connection.answered();
    this.#report(true);
  };

  readonly #end = (): void => {
    clearInterval(this.#timer);
    this.#report(false);
  };

  #report(isListening: boolean): void {
    if (this.#isListening === isListening) return;
    this.#isListening = isListening;
    this.parts.listeners.each((listener) => listener.listening?.(isListening));
  }
}

/** As a message has it. */
export function hintText(names: readonly string[] | '*'): string {
  return names === '*' || names.length > MOST_NAMES ? '*' : names.join('\n');
}
