import { type ServerKind } from '../tools/replicas/servers.js';

/** One of the things that are compared: a program of contestants/ and its settings. */
export interface Contestant {
  readonly name: string;
  readonly program: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What its processes agree by. */
  readonly server: ServerKind;
}

function contestant(
  name: string,
  program: string,
  options: Contestant['options'] = {},
  server: ServerKind = 'redis',
): Contestant {
  return { name, program, options, server };
}

export const bareTimer = contestant('bare timer', 'bare-timer');
export const bareNest = contestant('bare Nest application', 'bare-nest');
export const idleRedis = contestant('two idle Redis connections', 'idle-redis');
export const singletonJob = contestant('singleton-job', 'singleton-job');
export const singletonJobShort = contestant('singleton-job, 800 ms', 'singleton-job', { lockExpiry: '800ms' });
export const onPostgres = contestant('singleton-job on PostgreSQL', 'singleton-job', {}, 'postgres');
export const onPostgresShort = contestant(
  'singleton-job on PostgreSQL, 800 ms',
  'singleton-job',
  { lockExpiry: '800ms' },
  'postgres',
);
export const heartbeatThread = contestant('singleton-job, heartbeatThread', 'singleton-job', { heartbeatThread: true });
export const heartbeatThreadOnPostgres = contestant(
  'singleton-job on PostgreSQL, heartbeatThread',
  'singleton-job',
  { heartbeatThread: true },
  'postgres',
);
export const schedule = contestant('@nestjs/schedule', 'nest-schedule');
export const lockPerTick = contestant('schedule + lock per tick', 'lock-per-tick');
export const keyPerSlot = contestant('schedule + key per slot', 'key-per-slot');
/** The registry has no `@nestjs/locks` to install: this is the design that its documentation describes. */
export const nestLocks = contestant('@nestjs/locks design', 'one-instance');
export const nestLocksOneRun = contestant('@nestjs/locks design, without overlapping', 'one-instance', {
  withoutOverlapping: true,
});
export const bullmq = contestant('BullMQ', 'bullmq');
export const bullmqOne = contestant('BullMQ, global concurrency 1', 'bullmq', { globalConcurrency: 1 });
export const electionPerJob = contestant('original design', 'election-per-job');

/** All that run a job for several replicas. */
const RIVALS: readonly Contestant[] = [
  singletonJob,
  singletonJobShort,
  onPostgres,
  onPostgresShort,
  schedule,
  lockPerTick,
  keyPerSlot,
  nestLocksOneRun,
  bullmq,
  bullmqOne,
  electionPerJob,
];

const QUICK_RIVALS: readonly Contestant[] = [
  singletonJobShort,
  onPostgresShort,
  schedule,
  withLeaseOfASecond(lockPerTick, { lockMs: 1_000 }),
  keyPerSlot,
  withLeaseOfASecond(nestLocksOneRun, { ttlMs: 1_000 }),
  withLeaseOfASecond(bullmqOne, { lockDuration: 1_000, stalledInterval: 1_000 }),
  withLeaseOfASecond(electionPerJob, { heartbeatMs: 300, expiryMs: 1_000 }),
];

/** What a quick run leaves out. */
export const LEFT_OUT =
  'measures that wait have one contestant of each kind, with a lease of about a second, and two replicas instead of three';

/** Those that a measure of failures compares. */
export function rivals(isQuick: boolean): readonly Contestant[] {
  return isQuick ? QUICK_RIVALS : RIVALS;
}

function withLeaseOfASecond(one: Contestant, options: Contestant['options']): Contestant {
  return { ...one, name: `${one.name}, 1 s`, options: { ...one.options, ...options } };
}
