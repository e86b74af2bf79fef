import { hostname } from 'node:os';

/** A person or a service that may request reports. */
export interface User {
  readonly name: string;
  readonly token: string;
  /** Where the end of each report is announced, and the secret that signs the announcement. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

const DAY_MS = 86_400_000;

/** The settings of the web replicas and the workers. README.md has the table. Decorators read them, so they are a constant. */
export const settings = readSettings(process.env);

function readSettings(env: Readonly<Record<string, string | undefined>>) {
  const problems: string[] = [];

  const number = (name: string, fallback: number, least = 0): number => {
    const text = env[name] ?? String(fallback);
    if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
    problems.push(`${name} must be a whole number of at least ${String(least)}, got "${text}"`);
    return fallback;
  };

  const numbers = (name: string, fallback: string): number[] => {
    const values = (env[name] ?? fallback).split(',');
    if (!values.every((text) => /^\d+$/.test(text)))
      problems.push(`${name} must be whole numbers of at least 0, with commas in between`);
    return values.map(Number);
  };

  const users = (): User[] => {
    try {
      const list = JSON.parse(env['USERS'] ?? '') as User[];
      const isValid = ({ name, token }: User): boolean =>
        typeof name === 'string' && /^[\w-]+$/.test(name) && typeof token === 'string' && token.length >= 16;
      const areUnique = (texts: string[]): boolean => new Set(texts).size === texts.length;
      const names = list.map(({ name }) => name);
      const tokens = list.map(({ token }) => token);
      if (list.length > 0 && list.every(isValid) && areUnique(names) && areUnique(tokens)) return list;
    } catch {
      // reported below
    }
    problems.push(
      'USERS must be a JSON list of { name, token, webhook? }. A token has at least 16 characters, and no two users share a name or a token.',
    );
    return [];
  };

  const resultTtl = number('RESULT_TTL_MS', DAY_MS);
  const read = {
    redisUrl: env['REDIS_URL'] ?? 'redis://127.0.0.1:6379',
    /** First part of every key. */
    projectName: env['PROJECT_NAME'] ?? 'reports',
    http: {
      host: env['HOST'] ?? '127.0.0.1',
      port: number('PORT', 0),
      /** How long a stream of progress stays open. */
      streamLimit: number('STREAM_LIMIT_MS', 300_000),
    },
    users: users(),
    timeZone: env['TIME_ZONE'] ?? 'UTC',
    /** Options of BullMQ's worker, under their own names. */
    worker: {
      name: env['NODE_ID'] ?? `${hostname()}-${String(process.pid)}`,
      concurrency: number('CONCURRENCY', 4, 1),
      lockDuration: number('LOCK_DURATION_MS', 30_000, 1),
      stalledInterval: number('STALLED_INTERVAL_MS', 30_000, 1),
      // 1 by default: a job whose worker is killed twice would fail
      maxStalledCount: number('MAX_STALLED_COUNT', 10),
    },
    /** How long a process that was told to stop waits for its jobs and for Redis. */
    stopLimit: number('STOP_LIMIT_MS', 20_000),
    singletonJobs: { lockExpiry: number('LOCK_EXPIRY_MS', 10_000) },
    report: {
      timeout: number('REPORT_TIMEOUT_MS', 300_000),
      /** How long a report usually takes. One that runs twice as long is stuck. */
      expected: number('REPORT_EXPECTED_MS', 60_000),
      retryDelay: number('REPORT_RETRY_DELAY_MS', 1_000),
      resultTtl,
      dailyCron: env['DAILY_CRON'] ?? '0 3 * * *',
    },
    webhook: {
      timeout: number('WEBHOOK_TIMEOUT_MS', 10_000),
      /** Waiting times before the five retries. */
      retryDelays: numbers('WEBHOOK_RETRY_DELAYS_MS', '1000,5000,30000,300000,1800000'),
    },
    sweepPeriod: number('SWEEP_PERIOD_MS', 60_000, 1),
    /** Finished jobs outlive their results, and the tick after the next one, which enqueues their occurrence again. */
    keepFinishedMs: Math.max(2 * resultTtl, number('SCHEDULE_PERIOD_MS', DAY_MS) * 2),
    /** Dead jobs wait for a person. */
    keepDeadMs: 30 * DAY_MS,
  };
  if (problems.length > 0) {
    process.stderr.write(`Cannot start with these settings:\n${problems.map((line) => `  - ${line}\n`).join('')}`);
    process.exit(1);
  }
  return read;
}
