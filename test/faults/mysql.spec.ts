import { expect, it } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { MysqlServer } from '../../tools/servers/mysql-server.js';
import { FaultRun, LOCK_EXPIRY_MS } from './support/fault-run.js';
import { type BarePlace } from './support/place.js';

const TABLES = ['incarnations', 'leases', 'records'].map((name) => `singleton_job_${name} WRITE`).join(', ');
const LOCKED_MS = 15_000;

class MysqlPlace implements BarePlace {
  private constructor(readonly server: MysqlServer) {}

  static async start(): Promise<MysqlPlace> {
    const place = new MysqlPlace(await MysqlServer.start());
    await using admin = await place.admin();
    await admin.query('CREATE USER app');
    await admin.query('GRANT ALL ON shop.* TO app');
    return place;
  }

  urlOf(port = this.server.port): string {
    return this.server.urlOf('app').replace(String(this.server.port), String(port));
  }

  admin() {
    return createConnection(this.server.url);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

/**
 * On MySQL it also shows that no statement waits on the server for longer than its client waits for it: each would keep
 * a connection until the tables are free. MariaDB ends a statement whose client is gone.
 */
it.concurrent(
  'Replicas on a MySQL whose tables another program locks keep few connections, and go on after',
  async () => {
    // for a shorter lease they give up a statement sooner than the server does
    await using run = await FaultRun.on(await MysqlPlace.start(), { lockExpiryMs: 10_000 });
    const { place, replicas } = run;
    await using program = await place.admin();
    await using observer = await place.admin();
    const count = "SELECT COUNT(*) AS connections FROM information_schema.processlist WHERE user = 'app'";
    let most = 0;

    await program.query(`LOCK TABLES ${TABLES}`);
    const endsAt = performance.now() + LOCKED_MS;
    while (performance.now() < endsAt) {
      await delay(500);
      const [[row]] = await observer.query<RowDataPacket[]>(count);
      most = Math.max(most, Number(row?.['connections']));
    }
    const isOver = () => replicas.every(({ leads }) => leads.size === 0);
    await run.until('every term is over', isOver, { withinMs: SLACK_MS });
    await program.query('UNLOCK TABLES');

    await run.goesOn({ withinMs: 2_500 + SLACK_MS });
    // a busy machine may take a connection for a silent one
    expect(most).toBeLessThanOrEqual(2 * replicas.length);
    expect(run.violations()).toEqual([]);
  },
);

it.concurrent('Replicas on a MySQL that is 150 ms away keep their leaders, and each job goes on', async () => {
  await using run = await FaultRun.on(await MysqlPlace.start());
  for (const network of run.networks) network.answerDelayMs = 150;
  // with a round trip for each statement, a heartbeat beside claims takes longer than a lease lives
  await delay(4 * LOCK_EXPIRY_MS);
  await run.goesOn();
  for (const { observer } of run.replicas) expect(observer.of('leadershipLost')).toEqual([]);
  expect(run.violations()).toEqual([]);
});
