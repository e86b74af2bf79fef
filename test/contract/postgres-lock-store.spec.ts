import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/describe-lock-store.js';
import { NO_STATE, PostgresFixture } from './postgres-fixture.js';

let fixture: PostgresFixture;

beforeAll(async () => {
  fixture = await PostgresFixture.start();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describeLockStore(
  { describe, it },
  {
    name: 'the PostgreSQL lock store',
    // the clock of a server is that of its machine
    leaveOut: ['a clock that is set back'],
    makeFixture: async () => {
      const projectName = `p-${randomUUID()}`;
      const stores = [await fixture.connect({ projectName }), await fixture.connect({ projectName })] as const;
      const [{ store }, { store: other }] = stores;
      const run = (sql: string, ...values: unknown[]) => fixture.sql(sql, [projectName, ...values]);
      return {
        store,
        other,
        occupy: async (name, holder, ttlMs) => {
          await run(
            `INSERT INTO singleton_job.locks (project, name, holder, expires_at)
            VALUES ($1, $2, $3, singleton_job.now_1() + $4::bigint)
            ON CONFLICT (project, name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at`,
            name,
            holder,
            ttlMs,
          );
        },
        loseData: async () => {
          for (const table of ['sessions', 'servers', 'locks']) {
            await run(`DELETE FROM singleton_job.${table} WHERE project = $1`);
          }
        },
        loseSessions: async () => {
          await run('DELETE FROM singleton_job.sessions WHERE project = $1');
        },
        loseState: async (name) => {
          await run(`UPDATE singleton_job.locks SET ${NO_STATE} WHERE project = $1 AND name = $2`, name);
        },
        restart: async () => {
          for (const { events } of stores) events.length = 0;
          await fixture.server.restart();
          await Promise.all(stores.map((opened) => fixture.isConnected(opened)));
        },
        passTime: async (ms) => {
          await delay(ms);
        },
        end: async () => {
          await Promise.all([store.close(), other.close()]);
        },
      };
    },
  },
);
