import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cancelQuery, newClient, type PostgresClient } from './postgres-client.js';

describe('A client', () => {
  it('reads a URL with a socket', async () => {
    const client = await newClient('postgresql://app:pw@/shop?host=/cloudsql/one&port=7832', 10_000);
    expect(client).toMatchObject({ host: '/cloudsql/one', port: 7832, user: 'app', database: 'shop' });
  });

  it('takes no longer to connect than its leases allow', async () => {
    const client = await newClient({ postgres: { connectionTimeoutMillis: 60_000 } }, 9_000);
    expect(Reflect.get(client, '_connectionTimeoutMillis')).toBe(9_000);
  });

  it('has the password of a pool, which hides it', async () => {
    const options = Object.defineProperty({ host: 'db' }, 'password', { value: 'secret', enumerable: false });
    const client = await newClient({ postgres: { options, connect: () => undefined } }, 10_000);
    expect(client).toMatchObject({ host: 'db' });
    expect(Reflect.get(client, 'password')).toBe('secret');
  });
});

it('A query is cancelled also on a server that is reached by a socket', async () => {
  const host = await mkdtemp(join(tmpdir(), 'singleton-job-'));
  const server = createServer().listen(join(host, '.s.PGSQL.5433')).unref();
  await once(server, 'listening');
  const client: unknown = { host, port: 5433, processID: 7, secretKey: 9 };
  cancelQuery(client as PostgresClient);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [request] = (await once(socket, 'data')) as [Buffer];
  // 16 bytes: their number, a code, the process and its key
  expect(request.toString('hex')).toBe('0000001004d2162e0000000700000009');
  server.close();
  await rm(host, { recursive: true });
});
