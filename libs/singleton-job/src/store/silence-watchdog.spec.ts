import { expect, it, jest } from '@jest/globals';
import { useFakeTimers } from '../../../../test/support/use-fake-timers.js';
import { watchSilence } from './silence-watchdog.js';

useFakeTimers();

it('A watchdog calls once when nothing arrives for so long while a request waits', async () => {
  const stream = { bytesRead: 0, connecting: true };
  const messages: string[] = [];
  const silent = ({ message }: Error) => messages.push(message);
  const watched = { stream: () => stream, answerTimeoutMs: () => 1_500, silent };
  const answerAfter = (ms: number) => void watchSilence(new Promise((resolve) => setTimeout(resolve, ms)), watched);
  // the connection is being opened, and then something arrives
  answerAfter(9_000);
  await jest.advanceTimersByTimeAsync(4_000);
  stream.connecting = false;
  while (stream.bytesRead++ < 5) await jest.advanceTimersByTimeAsync(1_000);
  // no request waits, and then one for a short time
  await jest.advanceTimersByTimeAsync(5_000);
  answerAfter(1_450);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(messages).toEqual([]);
  answerAfter(9_000);
  await jest.advanceTimersByTimeAsync(9_000);
  expect(messages).toEqual(['no answer within 1.5 s']);
});
