import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type PostgresClient } from './postgres-client.js';
import { PostgresConnection } from './postgres-connection.js';

interface FakeServer {
  isSilent: boolean;
  readonly clients: FakeClient[];
}

/** A client without a network. */
class FakeClient extends EventEmitter implements PostgresClient {
  readonly host = '/nowhere';
  readonly port = 0;
  readonly processID = 7;
  readonly secretKey = 7;
  #fail: (error: Error) => void = () => undefined;
  readonly connection = {
    stream: {
      bytesRead: 0,
      destroy: () => {
        this.#fail(new Error('closed'));
      },
    },
  };

  constructor(private readonly server: FakeServer) {
    super();
    server.clients.push(this);
  }

  connect(): Promise<void> {
    return Promise.resolve();
  }

  query(text: string): ReturnType<PostgresClient['query']> {
    if (!this.server.isSilent) return Promise.resolve({ rows: [{ text }] });
    return new Promise((_resolve, reject) => (this.#fail = reject));
  }

  end(): Promise<void> {
    this.connection.stream.destroy();
    return Promise.resolve();
  }
}

function setup(onReady: (connection: PostgresConnection) => void = () => undefined) {
  const server: FakeServer = { isSilent: false, clients: [] };
  const lost: string[] = [];
  const delays: number[] = [];
  const connection: PostgresConnection = new PostgresConnection(
    {
      create: () => Promise.resolve(new FakeClient(server)),
      toError: (error) => new LockStoreError('STORE_UNREACHABLE', String(error), { wasSent: false }),
      silenceMs: 1_500,
      reconnectDelayMs: (failures) => {
        delays.push(failures);
        return 100;
      },
    },
    {
      prepare: () => Promise.resolve(),
      onReady: () => {
        onReady(connection);
      },
      onLost: ({ message }) => lost.push(message),
    },
  );
  const ask = (text = 'SELECT 1') => connection.run('ask', (query) => query(text));
  return { server, connection, lost, delays, ask };
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('A connection', () => {
  it('that is silent is replaced, the third time in a row only after 5 s, until there is an answer', async () => {
    const { server, connection, lost, ask } = setup(
      (each) => void each.run('ask', (query) => query('')).catch(() => undefined),
    );
    const clientsAfter = async (ms: number): Promise<number> => {
      await jest.advanceTimersByTimeAsync(ms);
      return server.clients.length;
    };
    server.isSilent = true;
    connection.open();
    expect([await clientsAfter(1_450), await clientsAfter(200), await clientsAfter(1_600)]).toEqual([1, 2, 3]);
    expect([await clientsAfter(6_300), await clientsAfter(300)]).toEqual([3, 4]);
    expect(new Set(lost)).toEqual(new Set(['Error: no answer within 1.5 s']));
    server.isSilent = false;
    expect(await clientsAfter(10_000)).toBe(5);
    await ask();
    server.isSilent = true;
    void ask().catch(() => undefined);
    expect(await clientsAfter(1_700)).toBe(6);
    await connection.close();
  });

  it('has one request under way, in the order in which they came', async () => {
    const { connection, ask } = setup();
    connection.open();
    const answers: unknown[] = [];
    const asked = ['1', '2', '3'].map(async (text) => answers.push(...(await ask(text))));
    await Promise.all(asked);
    expect(answers).toEqual([{ text: '1' }, { text: '2' }, { text: '3' }]);
    await connection.close();
  });

  it('rejects what is sent while there is none, and says whether a request has left', async () => {
    const { server, connection, ask } = setup();
    await expect(ask()).rejects.toMatchObject({ wasSent: false });
    connection.open();
    await ask();
    server.isSilent = true;
    const sent = expect(ask()).rejects.toMatchObject({ message: 'Error: no answer within 1.5 s', wasSent: true });
    const queued = expect(ask()).rejects.toMatchObject({ message: 'Error: no answer within 1.5 s', wasSent: false });
    await jest.advanceTimersByTimeAsync(1_550);
    await Promise.all([sent, queued]);
    await connection.close();
    await expect(ask()).rejects.toMatchObject({ message: 'Error: the store is closed', wasSent: false });
  });

  it('is not replaced while something arrives on it', async () => {
    const { server, connection, lost, ask } = setup();
    connection.open();
    await ask();
    server.isSilent = true;
    const answer = ask().catch(() => undefined);
    for (let part = 0; part < 4; part++) {
      await jest.advanceTimersByTimeAsync(1_000);
      for (const client of server.clients) client.connection.stream.bytesRead += 1;
    }
    expect(lost).toEqual([]);
    await jest.advanceTimersByTimeAsync(3_100);
    expect(lost).toEqual(['Error: no answer within 1.5 s']);
    await connection.close();
    await answer;
  });

  it('waits longer after each attempt that fails, until one succeeds', async () => {
    const { server, connection, delays } = setup();
    connection.open();
    await jest.advanceTimersByTimeAsync(10);
    const refuse = jest.spyOn(FakeClient.prototype, 'connect').mockRejectedValue(new Error('refused'));
    server.clients[0]?.emit('error', new Error('reset'));
    await jest.advanceTimersByTimeAsync(250);
    refuse.mockRestore();
    await jest.advanceTimersByTimeAsync(100);
    server.clients.at(-1)?.emit('error', new Error('reset'));
    expect(delays).toEqual([0, 1, 2, 0]);
    await connection.close();
  });
});
