import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { PostgresFixture } from './postgres-fixture.js';
import { hammer } from './hammer.js';

let fixture: PostgresFixture;

beforeAll(async () => {
  // the hammer has fifty stores
  fixture = await PostgresFixture.start(['-c', 'max_connections=150']);
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** As the library has it, but for the distance to the clock of the machine. */
async function setClock(aheadMs: number): Promise<void> {
  await fixture.sql(`CREATE OR REPLACE FUNCTION singleton_job.clock_1() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${String(aheadMs)} $$`);
}

describeStore(
  { describe, it },
  {
    name: 'the PostgreSQL store',
    makeFixture: () => {
      const [projectName, other] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      return {
        newStore: () => fixture.newStore({ projectName }),
        newStoreOfOtherProject: () => fixture.newStore({ projectName: other }),
        restart: () => fixture.server.restart(),
        loseData: async () => {
          for (const table of ['leases', 'incarnations', 'records']) {
            await fixture.sql(`DELETE FROM singleton_job.${table} WHERE project = $1`, [projectName]);
          }
        },
        setClockBack: (ms) => setClock(-ms),
        end: () => setClock(0),
      };
    },
  },
);

describe('the PostgreSQL store', () => {
  it('keeps its promises to many replicas at once', async () => {
    const projectName = `p-${randomUUID()}`;
    const result = await hammer(async () => (await fixture.connect({ projectName })).store);
    expect(result.problems).toEqual([]);
    expect(result.rejected).toEqual([]);
    expect(result.applied).toBeGreaterThan(100);
    expect(result.ended).toBeGreaterThan(20);
  });
});
