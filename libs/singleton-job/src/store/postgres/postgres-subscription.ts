import { randomUUID } from 'node:crypto';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type Listeners } from '../listeners.js';
import { type PostgresClient } from './postgres-clients.js';
import { PostgresLane, type Query } from './postgres-lane.js';

const TEST_MS = 3_000;
/** The connection that sends may come back later than the one that listens. */
const RESEND_MS = 250;

const NO_MESSAGES = {
  code: 'MESSAGES_NOT_DELIVERED',
  message:
    'gets no messages of other replicas: a pooler in transaction mode accepts LISTEN and delivers nothing. Jobs run all the same, and ' +
    'the next leader needs a heartbeat longer after a stop. Connect to the server itself, or to a pooler in session mode',
};

interface SubscriptionOptions {
  readonly channel: string;
  readonly listeners: Listeners;
  readonly lane: Pick<ConstructorParameters<typeof PostgresLane>[0], 'create' | 'toError' | 'random'>;
  /** Sends on another connection. */
  readonly notify: (payload: string) => Promise<unknown>;
  readonly onMessage: (payload: string) => void;
}

/**
 * Receives the messages of a channel on a connection of its own. A pooler may accept LISTEN and deliver nothing, so it counts as subscribed
 * only while a message to itself has arrived in the last 3 s.
 */
export class PostgresSubscription {
  readonly #options: SubscriptionOptions;
  readonly #lane: PostgresLane;
  readonly #test = `test ${randomUUID()}`;
  #isSubscribed = false;
  #hasArrived = false;
  #wasSent = false;
  #isWarned = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#lane = new PostgresLane({
      ...options.lane,
      prepare: (query, client) => this.#listen(query, client),
      onReady: () => {
        this.#sendTest();
      },
      onLost: () => {
        this.#end();
      },
    });
  }

  get isSubscribed(): boolean {
    return this.#isSubscribed;
  }

  open(): void {
    this.#lane.open();
  }

  close(): Promise<void> {
    this.#isSubscribed = false;
    clearTimeout(this.#timer);
    return this.#lane.close();
  }

  async #listen(query: Query, client: PostgresClient): Promise<void> {
    client.on('notification', ({ payload = '' }: { payload?: string }) => {
      if (payload === this.#test) this.#arrived();
      else if (this.#isSubscribed && !payload.startsWith('test ')) this.#options.onMessage(payload);
    });
    await query(`LISTEN "${this.#options.channel}"`);
  }

  #sendTest(): void {
    this.#hasArrived = false;
    this.#wasSent = false;
    this.#nextTest(TEST_MS);
    const timer = this.#timer;
    this.#options.notify(this.#test).then(
      () => (this.#wasSent = true),
      (error: unknown) => {
        const isAway = error instanceof LockStoreError && error.code === 'STORE_UNREACHABLE';
        if (isAway && this.#timer === timer && this.#lane.isReady && !this.#isSubscribed) this.#nextTest(RESEND_MS);
      },
    );
  }

  #nextTest(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#hasArrived) this.#miss();
      this.#sendTest();
    }, delayMs).unref();
  }

  #arrived(): void {
    this.#hasArrived = true;
    if (this.#isSubscribed || !this.#lane.isReady) return;
    this.#isSubscribed = true;
    this.#options.listeners.each((listener) => listener.subscribed?.());
  }

  #miss(): void {
    this.#unsubscribe();
    if (this.#isWarned || !this.#wasSent) return;
    this.#isWarned = true;
    this.#options.listeners.each((listener) => listener.warning?.(NO_MESSAGES));
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe();
  }

  #unsubscribe(): void {
    if (!this.#isSubscribed) return;
    this.#isSubscribed = false;
    this.#options.listeners.each((listener) => listener.unsubscribed?.());
  }
}
