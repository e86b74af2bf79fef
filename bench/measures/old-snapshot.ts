import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { onPostgres } from '../contestants.js';
import { type Row } from '../figures.js';
import { type Measure } from '../measure.js';
import { manyJobs, Replicas } from '../replicas.js';
import { loadOf, Servers } from '../servers.js';

/** What three replicas write in an hour: a heartbeat each 3 s, and the record of each job that ran each 10 s, here each 9 s. */
const HEARTBEATS = 1_200;
const HEARTBEATS_PER_RECORD = 3;

export const oldSnapshot: Measure = {
  name: 'old-snapshot',
  title: 'PostgreSQL while a transaction stays open',
  about:
    'Three replicas and 100 jobs of 500 ms that do nothing. Then a transaction keeps the versions of the rows that are written in an hour, ' +
    'as a dump does; they are written at once. For comparison: one idle connection with a ping per second.',
  run: async ({ pick }) => {
    const windowMs = pick(20_000, 1_000);
    const idle = await pinged(windowMs);
    await using replicas = await Replicas.start(onPostgres, {
      jobs: manyJobs(100),
      count: pick(3, 2),
      reports: 'nothing',
    });
    const { url } = replicas.server;
    const cpu = (name: string, ms: number): Row => ({ name, cells: { 'server CPU, ms per s': ms } });
    await delay(pick(10_000, 500));
    const load = loadOf(replicas);
    const without = await load.cpuMsPerSecond(url, windowMs);
    const reader = new Client(url);
    const writer = new Client(url);
    await Promise.all([reader.connect(), writer.connect()]);
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query('SELECT FROM singleton_job.records');
    await writer.query(versions(pick(HEARTBEATS, 12)));
    const held = await load.cpuMsPerSecond(url, windowMs);
    await Promise.all([reader.end(), writer.end()]);
    return [
      cpu('one idle connection, a ping per second', idle),
      cpu(onPostgres.name, without),
      cpu(`${onPostgres.name}, a transaction open for an hour`, held),
    ];
  },
};

/** Each version has a transaction of its own: one that is replaced in the same transaction can be removed at once. */
function versions(count: number): string {
  return `DO $$ BEGIN FOR beat IN 1..${count} LOOP
    UPDATE singleton_job.leases SET ends_at = ends_at;
    IF beat % ${HEARTBEATS_PER_RECORD} = 0 THEN UPDATE singleton_job.records SET revision = revision; END IF;
    COMMIT;
  END LOOP; END $$`;
}

async function pinged(windowMs: number): Promise<number> {
  await using servers = new Servers();
  const { url } = await servers.of('postgres');
  const client = new Client(url);
  await client.connect();
  const timer = setInterval(() => void client.query('SELECT 1'), 1_000);
  try {
    return await loadOf({ contestant: onPostgres }).cpuMsPerSecond(url, windowMs);
  } finally {
    clearInterval(timer);
    await client.end();
  }
}
