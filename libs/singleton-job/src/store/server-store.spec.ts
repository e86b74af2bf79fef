import { expect, it } from '@jest/globals';
import { type Failures } from './connection.js';
import { MysqlStore } from './mysql/mysql-store.js';
import { PostgresStore } from './postgres/postgres-store.js';
import { type SyncResult } from './store.js';

const mysql = new MysqlStore({ connection: 'mysql://localhost/shop', projectName: 'shop' });
const postgres = new PostgresStore({ connection: 'postgresql://localhost/shop', projectName: 'shop' });

it.each([
  ['MySQL', (failures: Failures) => mysql['delayMs'](failures)],
  ['PostgreSQL', (failures: Failures) => postgres['delayMs'](failures)],
])('%s may keep what a client left, so the third time-out in a row makes the next attempt late', (_name, delayMs) => {
  expect(delayMs({ before: 2, timeouts: 2 })).toBeLessThan(1_000);
  expect(delayMs({ before: 2, timeouts: 3 })).toBe(5_000);
});

it.each(['1795885403553', Number.NaN, 2 ** 60])('no fencing token is made of the clock %p', async (time) => {
  const answer = { time, incarnation: { id: 'a/1', since: 1, isFirst: true }, leases: new Map(), records: [] };
  mysql['sendSync'] = () => Promise.resolve(answer as SyncResult);
  const request = { isNewcomer: true, renew: [], grant: [], revoke: [], read: [] };
  await expect(mysql.sync(request)).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED', wasSent: true });
});
