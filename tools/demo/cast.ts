/** A job of the sample application, as the demo tells the worker to run it. */
export interface JobOnStage {
  readonly name: string;
  /** Heads its column. */
  readonly letter: string;
  readonly rhythm: string;
}

export const REPLICAS = ['A', 'B', 'C'] as const;
export type ReplicaName = (typeof REPLICAS)[number];

/** Short, so that the jobs of a killed leader go on within a second. The default is 10 s. */
export const LOCK_EXPIRY = '800ms';

/** The job whose leader is stopped and killed: it runs most often, and it has slow runs to be caught in. */
export const VICTIM = 'price-tick';

export const JOBS: readonly JobOnStage[] = [
  {
    name: 'heartbeat',
    letter: 'h',
    rhythm: '1 s after its last run',
  },
  {
    name: VICTIM,
    letter: 'p',
    rhythm: 'every 500 ms; each fifth run takes 1.2 s',
  },
  {
    name: 'daily-report',
    letter: 'd',
    rhythm: 'by cron, each day; a day lasts 3 s here',
  },
];

/** How long a stopped replica may take to end: its SHUTDOWN_TIMEOUT below, and the way out. */
export const STOP_LIMIT_MS = 8_000;

/** What the worker reads; everything is short, so that a hand-over fits into a demo. */
export function settings(redisUrl: string, project: string): Readonly<Record<string, string>> {
  return {
    REDIS_URL: redisUrl,
    PROJECT_NAME: project,
    HOST: '127.0.0.1',
    PORT: '0',
    LOCK_EXPIRY,
    SHUTDOWN_TIMEOUT: '3s',
    HEARTBEAT_DELAY: '1s',
    PRICE_TICK_PERIOD: '500ms',
    PRICE_TICK_SLOW_EVERY: '5',
    PRICE_TICK_SLOW_FOR: '1200ms',
    DAILY_REPORT_CRON: '*/3 * * * * *',
    DAILY_REPORT_TIME_ZONE: 'UTC',
    DAILY_REPORT_TAKES: '400ms',
    DAILY_REPORT_LOCK_EXPIRY: LOCK_EXPIRY,
  };
}
