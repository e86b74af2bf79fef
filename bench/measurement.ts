import { Redis } from 'ioredis';
import { RedisServer, type RedisServerOptions } from '../tools/replicas/redis/index.js';
import { type FleetSettings, Fleet } from './fleet.js';
import { accountForSeconds, countLeaderChanges, overlappingRuns, overlappingTerms } from './history.js';
import { type JobSpec } from './events.js';

/** The options of the command line. Every measurement has its own defaults. */
export interface Options {
  readonly jobs?: number;
  readonly replicas?: number;
  readonly perProcess?: number;
  readonly times?: number;
  readonly seconds?: number;
  /** Seconds between the start of the followers and the first window. */
  readonly settle?: number;
  readonly lockExpiry?: string;
  readonly heartbeat?: string;
}

/** One row: the name of each column and its value. */
export type Row = Readonly<Record<string, string | number>>;

/** `argument` is what follows the name of the measurement on the command line. */
export type Measurement = (options: Options, argument: string | undefined) => Promise<Row>;

/** A Redis, the replicas that use it, and a client to look into it. All of it ends with the measurement. */
export interface Stage extends AsyncDisposable {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly fleet: Fleet;
}

export async function setUp(
  { lockExpiry, heartbeat }: Options,
  jobs: readonly JobSpec[],
  rest: Partial<FleetSettings> & RedisServerOptions = {},
): Promise<Stage> {
  const server = await RedisServer.start(rest);
  const redis = new Redis(server.port, '127.0.0.1', { retryStrategy: () => 100 });
  redis.on('error', () => undefined); // it connects again after Redis was killed
  const recordsRuns = rest.recordsRuns ?? true;
  const fleet = new Fleet({ redisPort: server.port, lockExpiry, heartbeatInterval: heartbeat, jobs, recordsRuns });
  const dispose = async (): Promise<void> => {
    fleet[Symbol.dispose]();
    redis.disconnect();
    await server.stop();
  };
  return { server, redis, fleet, [Symbol.asyncDispose]: dispose };
}

/** The life of a session or a lock in milliseconds. */
export function expiryMsOf({ lockExpiry = '10s' }: Options): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)?$/.exec(lockExpiry) ?? [];
  if (amount === undefined) throw new Error(`--lock-expiry must be a duration such as 800ms or 10s, got ${lockExpiry}`);
  return Number(amount) * ({ ms: 1, s: 1_000, m: 60_000 }[unit ?? 'ms'] ?? 1);
}

/** What went wrong for the jobs of the fleet. Counts leader changes and aborts since `sinceMs`. */
export function damage(fleet: Fleet, sinceMs: number): Row {
  const history = fleet.history();
  const overlaps = overlappingRuns(history);
  const crons = fleet.settings.jobs.filter(({ schedule }) => 'cron' in schedule);
  const accounts = crons.map(({ name }) => accountForSeconds(history, name));
  return {
    'leader changes': countLeaderChanges(history, sinceMs),
    'terms lost': fleet.count('lost', sinceMs),
    'longest time with two leaders ms': Math.round(overlappingTerms(history).longestMs),
    'aborted runs': fleet.count('aborted', sinceMs),
    'overlapping runs': overlaps.count,
    'longest overlap ms': Math.round(overlaps.longestMs),
    'cron started twice': accounts.reduce((sum, { twice }) => sum + twice, 0),
    'cron lost': accounts.reduce((sum, { lost }) => sum + lost, 0),
  };
}

/** Median, 99th percentile (nearest rank) and maximum of milliseconds. */
export function spread(values: readonly number[]): string {
  if (values.length === 0) return 'not seen';
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? NaN);
  return `${rank(0.5)} / ${rank(0.99)} / ${rank(1)}`;
}
