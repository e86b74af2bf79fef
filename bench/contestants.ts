import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One of the things that are compared: a program of contestants/ and its settings. */
export interface Contestant {
  readonly name: string;
  readonly program: string;
  readonly options: Readonly<Record<string, unknown>>;
}

function contestant(name: string, program: string, options: Contestant['options'] = {}): Contestant {
  return { name, program, options };
}

export const bareTimer = contestant('bare timer', 'bare-timer');
export const bareNest = contestant('bare Nest application', 'bare-nest');
export const idleRedis = contestant('two idle Redis connections', 'idle-redis');
export const singletonJob = contestant('singleton-job', 'singleton-job');
export const singletonJobShort = contestant('singleton-job, 800 ms', 'singleton-job', { lockExpiry: '800ms' });
export const heartbeatThread = contestant('singleton-job, heartbeatThread', 'singleton-job', { heartbeatThread: true });
export const schedule = contestant('@nestjs/schedule', 'nest-schedule');
export const lockPerTick = contestant('schedule + lock per tick', 'lock-per-tick');
export const keyPerSlot = contestant('schedule + key per slot', 'key-per-slot');
export const bullmq = contestant('BullMQ', 'bullmq');
export const bullmqOne = contestant('BullMQ, global concurrency 1', 'bullmq', { globalConcurrency: 1 });
export const electionPerJob = contestant('original design', 'election-per-job');

/** All that run a job for several replicas. */
export const RIVALS = [
  singletonJob,
  singletonJobShort,
  schedule,
  lockPerTick,
  keyPerSlot,
  bullmq,
  bullmqOne,
  electionPerJob,
];

const SHORT_LEASES: Readonly<Record<string, Contestant['options']>> = {
  'lock-per-tick': { lockMs: 1_000 },
  'election-per-job': { heartbeatMs: 300, expiryMs: 1_000 },
  bullmq: { lockDuration: 1_000, stalledInterval: 1_000 },
};

/** For a quick run: every lease about a second long, and nothing that has a longer one. */
export function withShortLeases(contestants: readonly Contestant[]): Contestant[] {
  return contestants
    .filter(({ program, options }) => program !== 'singleton-job' || options['lockExpiry'] !== undefined)
    .map((one) => {
      const short = SHORT_LEASES[one.program];
      return short === undefined ? one : { ...one, name: `${one.name}, 1 s`, options: { ...one.options, ...short } };
    });
}

/** Whether the installed library has an option of its module. */
export async function hasOption(name: string): Promise<boolean> {
  const types = join(
    import.meta.dirname,
    'node_modules/nestjs-singleton-job/dist/esm/options/singleton-job.options.d.ts',
  );
  return (await readFile(types, 'utf8')).includes(`${name}?:`);
}
