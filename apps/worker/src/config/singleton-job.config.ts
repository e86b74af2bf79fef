import { registerAs } from '@nestjs/config';
import { type SingletonJobOptions } from 'nestjs-singleton-job';
import { OpenTelemetryInterceptor, OpenTelemetryObserver } from 'nestjs-singleton-job/opentelemetry';
import { RunContext } from '../context/run-context.js';
import { EventFeed } from '../events/event-feed.js';

/**
 * The options of the library, from the environment. Values are passed on as they are: the library reads durations such
 * as '3s', applies its defaults to what is undefined, and says at start-up what is wrong with the rest.
 */
export const singletonJobConfig = registerAs('singletonJob', () => {
  const { env } = process;
  return {
    projectName: env.PROJECT_NAME ?? 'myapp',
    connection: env.REDIS_URL ?? 'redis://127.0.0.1:6379',
    nodeId: env.NODE_ID,
    heartbeatInterval: env.HEARTBEAT_INTERVAL,
    lockExpiry: env.LOCK_EXPIRY,
    maxBackoffDelay: env.MAX_BACKOFF_DELAY,
    // the report may compute for longer than a lease
    heartbeatThread: env.HEARTBEAT_THREAD === 'true',
    shutdownTimeout: env.SHUTDOWN_TIMEOUT,
    observers: [EventFeed, OpenTelemetryObserver],
    interceptors: [RunContext, OpenTelemetryInterceptor],
    jobs: {
      heartbeat: { delay: env.HEARTBEAT_DELAY },
      'price-tick': { period: env.PRICE_TICK_PERIOD },
      'daily-report': {
        cron: env.DAILY_REPORT_CRON,
        timeZone: env.DAILY_REPORT_TIME_ZONE,
        // it computes for a while: better a late hand-over after a crash than a lease lost to a pause
        lockExpiry: env.DAILY_REPORT_LOCK_EXPIRY ?? '60s',
      },
    },
  } satisfies SingletonJobOptions;
});
