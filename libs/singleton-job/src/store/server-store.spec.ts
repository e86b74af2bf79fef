import { expect, it } from '@jest/globals';
import { MysqlStore } from './mysql/mysql-store.js';
import { type SyncResult } from './store.js';

const mysql = new MysqlStore({ connection: 'mysql://localhost/shop', projectName: 'shop' });

it.each(['1795885403553', Number.NaN, 2 ** 60])('no fencing token is made of the clock %p', async (time) => {
  const answer = { time, incarnation: { id: 'a/1', since: 1, isFirst: true }, leases: new Map(), records: [] };
  mysql['sendSync'] = () => Promise.resolve(answer as SyncResult);
  const request = { isNewcomer: true, renew: [], grant: [], revoke: [], read: [] };
  await expect(mysql.sync(request)).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED', wasSent: true });
});
