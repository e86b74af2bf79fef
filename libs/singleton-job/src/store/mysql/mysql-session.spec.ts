import { expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { useFakeTimers } from '../../../../../test/support/use-fake-timers.js';
import { type MysqlClient } from './mysql-client.js';
import { MysqlSession } from './mysql-session.js';

useFakeTimers();

it('A server that stops half-way in the handshake is given up, whatever the time limit of its client', async () => {
  const stream = { bytesRead: 0, connecting: true };
  const mute = { connect: () => new Promise(() => undefined) };
  const client = Object.assign(new EventEmitter(), { stream, promise: () => mute }) as unknown as MysqlClient;
  const reasons: unknown[] = [];
  const lost = (reason: unknown) => reasons.push(reason);
  const session = new MysqlSession(client, { lost, answerTimeoutMs: () => 1_500 }, () => Promise.resolve(''));
  void session.connect();
  await jest.advanceTimersByTimeAsync(1_400);
  stream.connecting = false;
  await jest.advanceTimersByTimeAsync(1_400);
  // its greeting
  stream.bytesRead = 78;
  await jest.advanceTimersByTimeAsync(1_400);
  expect(reasons).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_400);
  expect(reasons).toEqual([new Error('no answer within 1.5 s')]);
});
