import { expect, it } from '@jest/globals';
import { withOwnParameters } from './mysql-client.js';

it.each([
  ['mysql://u:p%40@db:3307/shop', ''],
  ['mysql://u:p%40@db:3307/shop', '?connection_limit=5&socket_timeout=3&rowsAsArray=true'],
  ['mysql://u:p%40@db:3307/shop?ssl=%7B%7D', '&schema=public'],
])('%s is the same URL with %p', (url, others) => {
  expect(withOwnParameters(url + others)).toBe(url);
});
