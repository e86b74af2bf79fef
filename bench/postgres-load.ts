import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { type StoredJob } from './contestants/time-to-lead.js';
import { type Commands, type Load, type Spent } from './load.js';

/** By the processes of the server, and by its statistics of transactions. */
export const postgresLoad: Load = { spent, commands, stored };

/** Each statement of the library is a transaction of its own. */
function commands(url: string, windowMs: number): Promise<Commands> {
  return connected(url, async (client) => {
    const before = await transactions(client);
    await delay(windowMs);
    return { sent: (((await transactions(client)) - before) / windowMs) * 1_000 };
  });
}

/** Idle connections report theirs within a second. */
async function transactions(client: Client): Promise<number> {
  await delay(1_100);
  const { rows } = await client.query<{ count: string }>(
    'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.count);
}

function stored(url: string): Promise<StoredJob[]> {
  return connected(url, async (client) => {
    return (await client.query<StoredJob>('SELECT revision::float8, value FROM singleton_job.records')).rows;
  });
}

function spent(url: string, windowMs: number): Promise<Spent> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const postmaster = parentOf(rows[0]?.pid ?? 0);
    const before = cpuMsBelow(postmaster);
    await delay(windowMs);
    return { cpuMs: ((cpuMsBelow(postmaster) - before) / windowMs) * 1_000 };
  });
}

async function connected<T>(url: string, act: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  // its server may be stopped
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await act(client);
  } finally {
    await client.end();
  }
}

/** The fields of `/proc/<pid>/stat` after the name, which may contain spaces. */
function statOf(pid: number | string): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
}

function parentOf(pid: number | string): number {
  return Number(statOf(pid)[1]);
}

/** CPU time of a server and of its living connections; a tick of the kernel is 10 ms. */
function cpuMsBelow(postmaster: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.reduce((sum, pid) => {
    try {
      if (Number(pid) !== postmaster && parentOf(pid) !== postmaster) return sum;
      const stat = statOf(pid);
      return sum + 10 * (Number(stat[11]) + Number(stat[12]));
    } catch {
      // it has ended
      return sum;
    }
  }, 0);
}
