import { expect, it } from '@jest/globals';
import { connectLimitMs, withOwnParameters } from './mysql-client.js';

it.each([
  ['mysql://u:p%40@db:3307/shop', ''],
  ['mysql://u:p%40@db:3307/shop', '?connection_limit=5&socket_timeout=3&rowsAsArray=true'],
  ['mysql://u:p%40@db:3307/shop?ssl=%7B%7D', '&schema=public'],
])('%s is the same URL with %p', (url, others) => {
  expect(withOwnParameters(url + others)).toBe(url);
});

it.each([
  [undefined, 10_000, 2_500],
  [undefined, 60_000, 2_500],
  [undefined, 800, 200],
  [500, 10_000, 500],
  [4_000, 30_000, 4_000],
  [15_000, 30_000, 10_000],
  [0, 10_000, 2_500],
])('With a time-out of %p and a lockExpiry of %i ms an attempt to connect may take %i ms', (given, ttlMs, limitMs) => {
  expect(connectLimitMs(given, ttlMs)).toBe(limitMs);
});
