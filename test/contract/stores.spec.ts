import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type Store } from '../../libs/singleton-job/src/store/store.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { hammer } from './hammer.js';
import { PostgresFixture } from './postgres-fixture.js';
import { RedisFixture } from './redis-fixture.js';

const newProject = () => `p-${randomUUID()}`;

let redis: RedisFixture;
let postgres: PostgresFixture;

beforeAll(async () => {
  // fifty stores hammer one
  const limit = ['-c', 'max_connections=150'];
  [redis, postgres] = await Promise.all([RedisFixture.start({ appendOnly: true }), PostgresFixture.start(limit)]);
});

afterAll(async () => {
  await Promise.all([redis[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()]);
});

describeStore(
  { describe, it },
  {
    name: 'the Redis store',
    makeFixture: () => {
      const [projectName, other] = [newProject(), newProject()];
      return {
        newStore: () => redis.newStore({ projectName }),
        newStoreOfOtherProject: () => redis.newStore({ projectName: other }),
        corrupt: async (name) => {
          await redis.raw.lpush(`{${projectName}}:${name}`, 'of another program');
        },
        restart: () => redis.server.restart(),
        loseData: async () => {
          await redis.raw.flushall();
        },
      };
    },
  },
);

/** As the library has it, but for the distance to the clock of the machine. */
async function setClock(aheadMs: number): Promise<void> {
  await postgres.sql(`CREATE OR REPLACE FUNCTION singleton_job.clock_1() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${String(aheadMs)} $$`);
}

describeStore(
  { describe, it },
  {
    name: 'the PostgreSQL store',
    makeFixture: () => {
      const [projectName, other] = [newProject(), newProject()];
      return {
        newStore: () => postgres.newStore({ projectName }),
        newStoreOfOtherProject: () => postgres.newStore({ projectName: other }),
        restart: () => postgres.server.restart(),
        loseData: async () => {
          for (const table of ['leases', 'incarnations', 'records']) {
            await postgres.sql(`DELETE FROM singleton_job.${table} WHERE project = $1`, [projectName]);
          }
        },
        setClockBack: (ms) => setClock(-ms),
        end: () => setClock(0),
      };
    },
  },
);

it.each<[string, (projectName: string) => Promise<{ readonly store: Store }>]>([
  ['Redis', (projectName) => redis.connect({ projectName })],
  ['PostgreSQL', (projectName) => postgres.connect({ projectName })],
])('%s keeps its promises to many replicas at once', async (_name, connect) => {
  const projectName = newProject();
  await hammer(async () => (await connect(projectName)).store);
});
