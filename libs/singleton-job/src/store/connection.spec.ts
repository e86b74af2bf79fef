import { describe, expect, it, jest } from '@jest/globals';
import { useFakeTimers } from '../../../../test/support/use-fake-timers.js';
import { asStoreError, StoreError } from '../base/errors/store.error.js';
import { Connection, delayAfter, type Failures, type OnLost } from './connection.js';
import { NoAnswerError } from './silence-watchdog.js';

function setup() {
  const server = { refuses: false, says: 'refused', means: undefined as unknown };
  const sessions: OnLost[] = [];
  const events: string[] = [];
  const failures: Failures[] = [];
  const connection = new Connection({
    newSession: (lost) => {
      sessions.push(lost);
      const connect = () => (server.refuses ? Promise.reject(new Error(server.says)) : Promise.resolve());
      const address = { host: 'localhost', port: 1 };
      return Promise.resolve({ address, connect, end: () => Promise.resolve(events.push('ended')) });
    },
    explain: () => {
      if (server.means instanceof Error) return Promise.reject(server.means);
      return Promise.resolve(server.means);
    },
    toError: (error, request = 'not sent') =>
      error instanceof StoreError ? error : new StoreError('STORE_UNREACHABLE', `${request}: ${String(error)}`),
    delayMs: (since) => {
      failures.push(since);
      return 100;
    },
    onReady: () => events.push('ready'),
    onLost: ({ message }) => events.push(message),
  });
  const ask = (answer = Promise.resolve('answered')) =>
    connection.send('ask', () => answer).catch((error: unknown) => asStoreError(error).message);
  const lose = (why: unknown) => {
    sessions.at(-1)?.(why);
  };
  return { connection, server, sessions, events, failures, ask, lose };
}

useFakeTimers();

describe('A connection', () => {
  it('lets a request wait for the first attempt, and no later one', async () => {
    const { connection, server, ask } = setup();
    expect(await ask()).toBe('the store is not open');
    server.refuses = true;
    connection.open();
    expect([await ask(), await ask()]).toEqual(['not sent: Error: refused', 'not sent: Error: refused']);
    server.refuses = false;
    await jest.advanceTimersByTimeAsync(100);
    expect(await ask()).toBe('answered');
    await connection.close();
    expect(await ask()).toBe('the store is not open');
  });

  it('says why the first attempts failed while the client says the same', async () => {
    const { connection, server, events } = setup();
    Object.assign(server, { refuses: true, says: 'reset', means: 'it is full' });
    connection.open();
    await jest.advanceTimersByTimeAsync(50);
    const story = [
      ['reset', 'not asked again'],
      ['refused', undefined],
      ['reset', 'it speaks HTTP'],
      ['timed out', new Error('a question that cannot be asked')],
    ] as const;
    for (const [says, means] of story) {
      Object.assign(server, { says, means });
      await jest.advanceTimersByTimeAsync(100);
    }
    await connection.close();
    expect(events.filter((event) => event !== 'ended')).toEqual([
      'not sent: it is full',
      'not sent: it is full',
      'not sent: Error: refused',
      'not sent: it speaks HTTP',
      'not sent: Error: timed out',
    ]);
  });

  it('ends a session that it gets after its close', async () => {
    const { connection, events } = setup();
    connection.open();
    await connection.close();
    await jest.runAllTimersAsync();
    expect(events).toEqual(['ended']);
  });

  it('ends a session that is lost, and a request that was under way learns why', async () => {
    const { connection, events, ask, lose } = setup();
    connection.open();
    const closed = new Promise<string>((_resolve, reject) => setTimeout(reject, 10, new Error('closed')));
    const answer = ask(closed);
    await jest.advanceTimersByTimeAsync(5);
    lose(new Error('no answer'));
    lose(new Error('closed'));
    await jest.advanceTimersByTimeAsync(200);
    expect(await answer).toBe('ask: Error: no answer');
    expect(events).toEqual(['ready', 'ended', 'not sent: Error: no answer', 'ready']);
    await connection.close();
  });

  it('reports nothing when it is closed, and is not opened again', async () => {
    const { connection, sessions, events, lose } = setup();
    connection.open();
    await jest.advanceTimersByTimeAsync(0);
    await Promise.all([connection.close(), connection.close()]);
    lose(new Error('closed'));
    connection.open();
    await jest.advanceTimersByTimeAsync(1_000);
    expect([sessions.length, events]).toEqual([1, ['ready', 'ended']]);
  });

  it('counts the failures since the last answer, and of them the time-outs in a row', async () => {
    const { connection, failures, ask, lose } = setup();
    connection.open();
    const [reset, silent] = [new Error('reset'), new NoAnswerError('no answer')];
    for (const reason of [reset, silent, silent, undefined, silent, reset, silent]) {
      await jest.advanceTimersByTimeAsync(100);
      if (reason === undefined) await ask();
      else lose(reason);
    }
    expect(failures.map(({ before, timeouts }) => [before, timeouts])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [0, 1],
      [1, 0],
      [2, 1],
    ]);
    await connection.close();
  });
});

it.each([
  [0, 0, 50],
  [2, 2, 200],
  [9, 2, 500],
  [9, 3, 5_000],
  [9, 9, 5_000],
])('After %i failures and %i time-outs in a row the next attempt comes within %p ms', (before, timeouts, limitMs) => {
  const delayMs = delayAfter({ before, timeouts }, 1_500);
  expect(delayMs).toBeLessThanOrEqual(limitMs);
  expect(delayMs).toBeGreaterThanOrEqual(limitMs / 2);
});
