import { expect, it } from '@jest/globals';
import { type Failures } from './connection.js';
import { MysqlStore } from './mysql/mysql-store.js';
import { PostgresStore } from './postgres/postgres-store.js';

const mysql = new MysqlStore({ connection: 'mysql://localhost/shop', projectName: 'shop' });
const postgres = new PostgresStore({ connection: 'postgresql://localhost/shop', projectName: 'shop' });

it.each([
  ['MySQL', (failures: Failures) => mysql['delayMs'](failures)],
  ['PostgreSQL', (failures: Failures) => postgres['delayMs'](failures)],
])('%s may keep what a client left, so the third time-out in a row makes the next attempt late', (_name, delayMs) => {
  expect(delayMs({ before: 2, timeouts: 2 })).toBeLessThan(1_000);
  expect(delayMs({ before: 2, timeouts: 3 })).toBe(5_000);
});
