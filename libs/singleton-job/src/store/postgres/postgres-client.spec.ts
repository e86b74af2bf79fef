import { describe, expect, it } from '@jest/globals';
import { newClient } from './postgres-client.js';

describe('A client', () => {
  it('reads a URL with a socket', async () => {
    const client = await newClient('postgresql://app:pw@/shop?host=/cloudsql/one&port=7832', 10_000);
    expect(client).toMatchObject({ host: '/cloudsql/one', port: 7832, user: 'app', database: 'shop' });
  });

  it('takes no longer to connect than its leases allow', async () => {
    const client = await newClient({ postgres: { connectionTimeoutMillis: 60_000 } }, 9_000);
    expect(Reflect.get(client, '_connectionTimeoutMillis')).toBe(3_000);
  });

  it('has the password of a pool, which hides it', async () => {
    const options = Object.defineProperty({ host: 'db' }, 'password', { value: 'secret', enumerable: false });
    const client = await newClient({ postgres: { options, connect: () => undefined } }, 10_000);
    expect(client).toMatchObject({ host: 'db' });
    expect(Reflect.get(client, 'password')).toBe('secret');
  });
});
