import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
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

/** What clients cost a server. */
interface Load {
  /** What clients send in a second. What scripts execute does not count. */
  readonly commandsPerSecond: (url: string, windowMs: number) => Promise<number>;
  /** CPU time that the server uses, in milliseconds per second. */
  readonly cpuMsPerSecond: (url: string, windowMs: number) => Promise<number>;
}

const LOADS: Readonly<Record<ServerKind, Load>> = { redis: { commandsPerSecond, cpuMsPerSecond } };

export function loadOf({ contestant }: { readonly contestant: Contestant }): Load {
  return LOADS[contestant.server];
}

async function commandsPerSecond(url: string, windowMs: number): Promise<number> {
  let commands = 0;
  const count = (line: string): void => {
    // of a script it is `[0 lua]`, of a client `[0 127.0.0.1:60866]`
    if (!/^[\d.]+ \[\d+ lua\]/.test(line.replace('+', ''))) commands++;
  };
  await monitored(url, count, () => delay(windowMs));
  return (commands / windowMs) * 1_000;
}

async function cpuMsPerSecond(url: string, windowMs: number): Promise<number> {
  const redis = new Redis(url);
  try {
    const before = await cpuMs(redis);
    await delay(windowMs);
    return (((await cpuMs(redis)) - before) / windowMs) * 1_000;
  } finally {
    redis.disconnect();
  }
}

async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const [user, system] = ['user', 'sys'].map((part) => new RegExp(`^used_cpu_${part}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (Number(user) + Number(system)) * 1_000;
}
