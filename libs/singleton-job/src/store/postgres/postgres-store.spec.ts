import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { type PostgresClient } from './postgres-client.js';

const clients: FakeClient[] = [];
const statements: string[] = [];
/** What a server, or a pooler before it, does with a statement. */
let carryOut: (client: FakeClient, text: string, values: readonly unknown[]) => Promise<unknown>;
let level: string;
/** No attempt to connect is answered. */
let isMute: boolean;

/** A client without a network. The first of a store is for requests, the second for messages. */
class FakeClient extends EventEmitter implements PostgresClient {
  readonly host = '/nowhere';
  readonly port = 0;
  readonly processID = 7;
  readonly secretKey = 7;
  readonly connection = { stream: { bytesRead: 0, destroy: () => undefined } };
  #number = clients.push(this);
  #isBusy = false;

  async connect(): Promise<void> {
    if (isMute) await this.#ended();
  }

  async query(text: string, values: readonly unknown[] = []): ReturnType<PostgresClient['query']> {
    const kind = /json_build_object|sync_1|LISTEN|pg_notify|SELECT 1|BEGIN|COMMIT/.exec(text)?.[0] ?? text;
    statements.push(`${String(this.#number)} ${kind}`);
    if (this.#isBusy) throw new Error('pg warns who sends a statement while another is under way');
    this.#isBusy = true;
    await Promise.race([this.#ended(), carryOut(this, kind, values)]);
    this.#isBusy = false;
    const found = { version: 150_000, isStandby: false, role: 'app', database: 'app', level, isComplete: true };
    const answers: Readonly<Record<string, unknown>> = {
      json_build_object: found,
      sync_1: { time: 1, leases: {}, records: {} },
    };
    return { rows: kind in answers ? [{ answer: JSON.stringify(answers[kind]) }] : [] };
  }

  end(): Promise<void> {
    this.emit('ended', new Error('ended'));
    return Promise.resolve();
  }

  #ended(): Promise<never> {
    return new Promise((_resolve, reject) => this.once('ended', reject));
  }
}

jest.unstable_mockModule('pg', () => ({ default: { Client: FakeClient } }));
const { PostgresStore } = await import('./postgres-store.js');

function openStore(subscribes: boolean, minTtlMs = 10_000) {
  const store = new PostgresStore({
    projectName: 'shop',
    connection: 'postgres://nowhere',
    subscribes,
    minTtlMs,
  });
  store.open();
  const sync = () => store.sync({ isNewcomer: false, renew: [], grant: [], revoke: [], read: [] });
  return { store, sync };
}

beforeEach(() => {
  jest.useFakeTimers();
  clients.length = statements.length = 0;
  level = 'read committed';
  isMute = false;
});

afterEach(async () => {
  // the limit of a check
  await jest.advanceTimersByTimeAsync(3_000);
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('A PostgreSQL store', () => {
  it('behind a pooler never counts as listening, and warns once', async () => {
    const atWork = new Set<FakeClient>();
    // a pooler delivers a notification to the client whose statement is under way on the server
    carryOut = async (client, kind, [channel]) => {
      atWork.add(client);
      if (kind === 'pg_notify') for (const each of atWork) each.emit('notification', { channel });
      await new Promise((resolve) => setTimeout(resolve, 20));
      atWork.delete(client);
    };
    const { store } = openStore(true);
    const events: string[] = [];
    store.addListener({ listening: () => events.push('listening'), warning: ({ code }) => events.push(code) });
    await jest.advanceTimersByTimeAsync(16_000);
    await Promise.all([store.publish('*'), jest.advanceTimersByTimeAsync(100)]);
    expect(events).toEqual(['HINTS_NOT_DELIVERED']);
    const check = ['1 pg_notify', '2 SELECT 1'];
    expect(statements.splice(0, 3)).toEqual(['1 json_build_object', '2 LISTEN', '2 LISTEN']);
    expect(statements).toEqual([...check, ...check, ...check, '2 pg_notify']);
    await store.close();
  });

  it('that is silent is connected anew, the third time in a row only after 5 s, until there is an answer', async () => {
    let isSilent = true;
    carryOut = async (_client, kind) => isSilent && kind === 'sync_1' && new Promise(() => undefined);
    const { store, sync } = openStore(false);
    const clientsAfter = async (ms: number): Promise<number> => {
      const message = "PostgreSQL did not answer 'sync': no answer within 1.5 s";
      const rejected = expect(sync()).rejects.toMatchObject({ message });
      await jest.advanceTimersByTimeAsync(ms);
      await rejected;
      return clients.length;
    };
    expect([await clientsAfter(1_600), await clientsAfter(1_700), await clientsAfter(6_300)]).toEqual([2, 3, 3]);
    await jest.advanceTimersByTimeAsync(300);
    expect(clients.length).toBe(4);
    isSilent = false;
    await sync();
    isSilent = true;
    expect([await clientsAfter(1_600), await clientsAfter(1_700)]).toEqual([5, 6]);
    await store.close();
  });

  it('that answers no attempt to connect is tried again every two seconds, however often', async () => {
    isMute = true;
    const { store } = openStore(false);
    const errors = new Set<string>();
    store.addListener({ disconnected: ({ message }) => errors.add(message) });
    await jest.advanceTimersByTimeAsync(20_000);
    expect(clients.length).toBeGreaterThanOrEqual(10);
    expect([...errors]).toEqual(['PostgreSQL is not connected: no answer within 1.5 s']);
    await store.close();
  });

  it.each([
    [10_000, '250ms'],
    [1_000, '100ms'],
  ])('with a lockExpiry of %i ms waits %s for a notification of another application', async (minTtlMs, limit) => {
    const limits: unknown[] = [];
    carryOut = async (_client, kind, values) => kind === 'pg_notify' && limits.push(values[2]);
    const { store } = openStore(true, minTtlMs);
    await jest.advanceTimersByTimeAsync(10);
    await store.publish('*');
    expect(limits).toEqual([limit, limit]);
    await store.close();
  });

  it('sends one statement after the other, and keeps those of a transaction together', async () => {
    level = 'serializable';
    carryOut = () => Promise.resolve();
    const { store, sync } = openStore(false);
    await Promise.all([sync(), sync()]);
    const transaction = ['1 BEGIN', '1 sync_1', '1 COMMIT'];
    expect(statements).toEqual(['1 json_build_object', ...transaction, ...transaction]);
    await store.close();
  });
});
