import { type BenchServer } from './servers.js';

/** One of the things that are compared: a program of contestants/ and its settings. */
export interface Contestant {
  readonly name: string;
  readonly program: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What its processes agree by. */
  readonly server: BenchServer;
}

function contestant(
  name: string,
  program: string,
  options: Contestant['options'] = {},
  server: BenchServer = 'redis',
): Contestant {
  return { name, program, options, server };
}

function onPostgresToo({ name, program, options }: Contestant): Contestant {
  return contestant(name.replace(program, `${program} on PostgreSQL`), program, options, 'postgres');
}

export const bareTimer = contestant('bare timer', 'bare-timer');
export const bareNest = contestant('bare Nest application', 'bare-nest');
export const idleRedis = contestant('two idle Redis connections', 'idle-redis');
export const singletonJob = contestant('singleton-job', 'singleton-job');
export const singletonJobShort = contestant('singleton-job, 800 ms', 'singleton-job', { lockExpiry: '800ms' });
export const heartbeatThread = contestant('singleton-job, heartbeatThread', 'singleton-job', { heartbeatThread: true });
export const onPostgres = onPostgresToo(singletonJob);
export const onPostgresShort = onPostgresToo(singletonJobShort);
export const heartbeatThreadOnPostgres = onPostgresToo(heartbeatThread);
export const schedule = contestant('@nestjs/schedule', 'nest-schedule');
export const lockPerTick = contestant('schedule + lock per tick', 'lock-per-tick');
export const keyPerSlot = contestant('schedule + key per slot', 'key-per-slot');
export const bullmq = contestant('BullMQ', 'bullmq');
export const electionPerJob = contestant('original design', 'election-per-job');

/** Those that elect a leader, so that it can be stopped or killed. */
export const ELECTED: readonly Contestant[] = [
  singletonJob,
  singletonJobShort,
  onPostgres,
  onPostgresShort,
  electionPerJob,
];
