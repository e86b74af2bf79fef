import { expect, it } from '@jest/globals';
import { firstAnswer } from './first-answer.js';

it.each([99_999, 6379.5, Number.NaN])('Nothing answers on the port %p, which no server can have', async (port) => {
  expect(await firstAnswer({ host: '127.0.0.1', port })).toBe('');
});
