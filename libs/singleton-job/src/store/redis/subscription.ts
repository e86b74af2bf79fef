import { type Redis } from 'ioredis';
import { namesIn } from '../hints.js';
import { type Listeners } from '../listeners.js';
import { type ConnectionSettings, RedisConnection } from './redis-connection.js';

const PING_MS = 3_000;

interface SubscriptionParts {
  readonly channel: string;
  readonly listeners: Listeners;
  /** Redis refused to subscribe. It is asked again every 3 s: it may permit it by then. */
  readonly onDenied: (error: unknown) => void;
}

/**
 * Receives hints on a connection of its own. It normally receives nothing for a long time, so it pings the server every 3 s. Returns how to
 * end it.
 */
export function subscribe(
  client: Redis,
  settings: ConnectionSettings,
  { channel, listeners, onDenied }: SubscriptionParts,
): () => void {
  let isListening = false;
  let timer: NodeJS.Timeout | undefined;
  const report = (isListeningNow: boolean): void => {
    isListening = isListeningNow;
    listeners.listening(isListening);
  };
  const answered = (): void => {
    connection.answered();
    report(connection.state === 'ready');
  };
  const ping = (): void => {
    const answer = isListening ? client.ping() : client.subscribe(channel);
    answer.then(answered, (error: unknown) => {
      if (!isListening) onDenied(error);
    });
  };
  const onReady = (): void => {
    ping();
    timer = setInterval(ping, PING_MS);
  };
  const onLost = (): void => {
    clearInterval(timer);
    report(false);
  };
  client.on('message', (_channel, text) => {
    if (isListening) listeners.each((listener) => listener.hint?.(namesIn(text)));
  });
  const connection = new RedisConnection(client, settings, { onReady, onLost });
  connection.open();
  return () => {
    connection.close();
    onLost();
  };
}
