import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { Listeners } from '../listeners.js';
import { type PostgresClient } from './postgres-client.js';
import { type ConnectionSettings, PostgresConnection } from './postgres-connection.js';
import { PostgresSubscription } from './subscription.js';

/** A pooler: it delivers a notification to the client whose statement is under way on the server. */
class Pooler {
  readonly statements: string[] = [];
  readonly #atWork = new Set<PooledClient>();

  async carryOut(client: PooledClient, text: string, [channel]: readonly unknown[]): Promise<{ readonly rows: [] }> {
    this.statements.push(`${client.name}: ${/LISTEN|pg_notify|SELECT 1/.exec(text)?.[0] ?? text}`);
    this.#atWork.add(client);
    if (text.includes('pg_notify')) for (const each of this.#atWork) each.emit('notification', { channel });
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.#atWork.delete(client);
    return { rows: [] };
  }
}

class PooledClient extends EventEmitter implements PostgresClient {
  readonly host = '/nowhere';
  readonly port = 0;
  readonly processID = 7;
  readonly secretKey = 7;
  readonly connection = { stream: { bytesRead: 0, destroy: () => undefined } };

  constructor(
    private readonly pooler: Pooler,
    readonly name: string,
  ) {
    super();
  }

  connect(): Promise<void> {
    return Promise.resolve();
  }

  query(text: string, values: readonly unknown[] = []): ReturnType<PostgresClient['query']> {
    return this.pooler.carryOut(this, text, values);
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

it('A subscription behind a pooler never counts as listening, and warns once', async () => {
  const pooler = new Pooler();
  const settings = (name: string): ConnectionSettings => ({
    create: () => Promise.resolve(new PooledClient(pooler, name)),
    toError: (error) => new LockStoreError('STORE_UNREACHABLE', String(error)),
    silenceMs: 1_500,
    reconnectDelayMs: () => 100,
  });
  const listeners = new Listeners();
  const events: string[] = [];
  listeners.add({
    listening: (isListening) => events.push(`listening: ${String(isListening)}`),
    warning: ({ code }) => events.push(code),
  });
  const other = new PostgresConnection(settings('requests'), {
    prepare: () => Promise.resolve(),
    onReady: () => undefined,
    onLost: () => undefined,
  });
  other.open();
  const subscription = new PostgresSubscription('hints', settings('messages'), other, listeners);
  subscription.start();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(events).toEqual(['MESSAGES_NOT_DELIVERED']);
  expect(subscription.connection).toBeUndefined();
  const check = ['messages: SELECT 1', 'requests: pg_notify'];
  const start = ['messages: LISTEN', 'messages: LISTEN', 'requests: pg_notify'];
  expect(pooler.statements).toEqual([...start, ...check, ...check, ...check]);
  await Promise.all([subscription.stop(), other.close()]);
});
