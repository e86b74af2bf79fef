import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { provideRedis, RedisServer } from '../redis/index.js';
import { run } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';
import { checkAnswers, removeKeys } from './project-keys.js';

/** Where the replicas meet. */
export interface MeetingPlace {
  readonly redisUrl: string;
  readonly project: string;
}

export interface Preparation {
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Builds the worker, provides a Redis for the time of `use`, and leaves neither a server nor a key behind. */
export async function withRedis<T>(
  { signal, note }: Preparation,
  use: (place: MeetingPlace) => Promise<T>,
): Promise<T> {
  note('Building the worker, looking for a Redis …');
  // both are waited for, also if one fails or somebody wants to end: a server that still starts could not be stopped
  const [built, provided] = await Promise.allSettled([buildWorker(), provideRedis()]);
  if (provided.status === 'rejected') throw provided.reason;
  await using redis = provided.value;
  signal.throwIfAborted();
  if (built.status === 'rejected') throw built.reason;

  const isBorrowed = !(redis instanceof RedisServer);
  if (isBorrowed) await checkAnswers(redis.url);
  note(isBorrowed ? 'Redis: the one of REDIS_URL.' : `Redis: ${redis.url}, from ${inShort(redis.source)}.`);
  // a name of its own disturbs nobody who uses a borrowed Redis too, not even another demo
  const project = `demo-${randomBytes(4).toString('hex')}`;
  try {
    return await use({ redisUrl: redis.url, project });
  } finally {
    if (isBorrowed) await removeKeys(redis.url, project);
  }
}

/** Without what only a developer of Redis wants to know of its version. */
function inShort(source: string): string {
  return source.replace(/ sha=[^)]*/, '');
}

function buildWorker(): Promise<string> {
  return run(process.execPath, [join(ROOT, 'node_modules/tsx/dist/cli.mjs'), join(ROOT, 'tools/build.ts'), 'worker']);
}
