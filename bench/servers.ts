import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { monitored } from '../tools/replicas/redis/monitor.js';
import { type OwnServer, type ServerKind, SERVERS } from '../tools/replicas/servers.js';
import { type Contestant } from './contestants.js';

/** One server of each kind that is asked for. */
export class Servers implements AsyncDisposable {
  readonly #started = new Map<ServerKind, Promise<OwnServer>>();

  of(kind: ServerKind): Promise<OwnServer> {
    const server = this.#started.get(kind) ?? SERVERS[kind]();
    this.#started.set(kind, server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#started.values()) await (await server).stop();
  }
}

interface Commands {
  /** What clients send. */
  readonly sent: number;
  /** What Redis executes inside the scripts that they send. PostgreSQL does not count it. */
  readonly inScripts?: number;
  /** How often Redis reads from a socket: a round trip, whatever the number of commands in it. PostgreSQL does not count it. */
  readonly reads?: number;
}

/** What clients cost a server. */
interface Load {
  readonly commandsPerSecond: (url: string, windowMs: number) => Promise<Commands>;
  /** CPU time that the server uses, in milliseconds per second. */
  readonly cpuMsPerSecond: (url: string, windowMs: number) => Promise<number>;
}

const LOADS: Readonly<Record<ServerKind, Load>> = {
  redis: { commandsPerSecond, cpuMsPerSecond },
  postgres: { commandsPerSecond: statementsPerSecond, cpuMsPerSecond: cpuMsOfProcesses },
};

export function loadOf({ contestant }: { readonly contestant: Contestant }): Load {
  return LOADS[contestant.server];
}

async function commandsPerSecond(url: string, windowMs: number): Promise<Commands> {
  let [sent, inScripts] = [0, 0];
  const count = (line: string): void => {
    // of a script it is `[0 lua]`, of a client `[0 127.0.0.1:60866]`
    if (/^[\d.]+ \[\d+ lua\]/.test(line.replace('+', ''))) inScripts++;
    else sent++;
  };
  const perSecond = (number: number): number => (number / windowMs) * 1_000;
  // three are not theirs: the last INFO, MONITOR, and the end of its connection
  const reads = await growthOf(url, readsOf, () => monitored(url, count, () => delay(windowMs)));
  return { sent: perSecond(sent), inScripts: perSecond(inScripts), reads: perSecond(reads - 3) };
}

async function cpuMsPerSecond(url: string, windowMs: number): Promise<number> {
  return ((await growthOf(url, cpuMs, () => delay(windowMs))) / windowMs) * 1_000;
}

/** By how much a number of a Redis grows meanwhile. */
async function growthOf(
  url: string,
  numberOf: (redis: Redis) => Promise<number>,
  during: () => Promise<unknown>,
): Promise<number> {
  const redis = new Redis(url);
  try {
    const before = await numberOf(redis);
    await during();
    return (await numberOf(redis)) - before;
  } finally {
    redis.disconnect();
  }
}

async function readsOf(redis: Redis): Promise<number> {
  return Number(/^total_reads_processed:(\d+)/m.exec(await redis.info('stats'))?.[1]);
}

async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const [user, system] = ['user', 'sys'].map((part) => new RegExp(`^used_cpu_${part}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (Number(user) + Number(system)) * 1_000;
}

/** Each statement of the library is a transaction of its own. */
async function statementsPerSecond(url: string, windowMs: number): Promise<Commands> {
  const client = new Client(url);
  await client.connect();
  try {
    const before = await transactions(client);
    await delay(windowMs);
    return { sent: (((await transactions(client)) - before) / windowMs) * 1_000 };
  } finally {
    await client.end();
  }
}

/** Idle connections report theirs within a second. */
async function transactions(client: Client): Promise<number> {
  await delay(1_100);
  const { rows } = await client.query<{ count: string }>(
    'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.count);
}

async function cpuMsOfProcesses(url: string, windowMs: number): Promise<number> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const postmaster = parentOf(rows[0]?.pid ?? 0);
    const before = cpuMsBelow(postmaster);
    await delay(windowMs);
    return ((cpuMsBelow(postmaster) - before) / windowMs) * 1_000;
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
