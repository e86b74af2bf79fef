import { describe, expect, it } from '@jest/globals';
import { newClient } from './postgres-client.js';

describe('A client', () => {
  it.each([
    [undefined, 10_000, 2_500],
    [undefined, 60_000, 2_500],
    [undefined, 800, 200],
    [500, 10_000, 500],
    [4_000, 30_000, 4_000],
    [15_000, 30_000, 10_000],
    [0, 10_000, 2_500],
  ])(
    'with a time-out of %p and a lockExpiry of %i ms may take %i ms to connect',
    async (given, shortestLifeMs, expected) => {
      const client = await newClient({ postgres: { connectionTimeoutMillis: given } }, shortestLifeMs);
      expect(Reflect.get(client, '_connectionTimeoutMillis')).toBe(expected);
    },
  );

  it('reads a URL with a socket', async () => {
    const client = await newClient('postgresql://app:pw@/shop?host=/cloudsql/one&port=7832', 10_000);
    expect(client).toMatchObject({ host: '/cloudsql/one', port: 7832, user: 'app', database: 'shop' });
  });

  it('has the password of a pool, which hides it', async () => {
    const options = Object.defineProperty({ host: 'db' }, 'password', { value: 'secret', enumerable: false });
    const client = await newClient({ postgres: { options, connect: () => undefined } }, 10_000);
    expect(client).toMatchObject({ host: 'db' });
    expect(Reflect.get(client, 'password')).toBe('secret');
  });
});
