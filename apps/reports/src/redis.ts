import { type ArgumentsHost, Catch, type FactoryProvider, type OnApplicationShutdown } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { Response } from 'express';
import { Redis, type RedisOptions } from 'ioredis';
import { settings } from './settings.js';

const retryStrategy = (): number => 500;

/** For requests over HTTP: a command that Redis cannot take now fails now, and a connection that hangs is closed. Nothing waits in memory. */
export const FAIL_FAST = {
  retryStrategy,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  socketTimeout: 2_000,
} satisfies RedisOptions;

/** For work that no request waits for: commands wait until Redis is back. */
export const WAIT = { retryStrategy, maxRetriesPerRequest: null } satisfies RedisOptions;

/** Results, checkpoints, idempotency keys, the run history. BullMQ has connections of its own. */
export class AppRedis extends Redis implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    this.disconnect();
  }
}

export function appRedis(options: typeof FAIL_FAST | typeof WAIT): FactoryProvider<AppRedis> {
  const useFactory = (): AppRedis => {
    const redis = new AppRedis(settings.redisUrl, options);
    // the commands that need the connection fail or wait by themselves
    redis.on('error', () => undefined);
    return redis;
  };
  return { provide: AppRedis, useFactory };
}

/** A key of this application. */
export function key(...parts: readonly string[]): string {
  return [settings.projectName, ...parts].join(':');
}

const REDIS_IS_AWAY =
  /isn't writeable|Connection is closed|aborted due to connection close|ECONN|max retries|^(LOADING|READONLY|MASTERDOWN|OOM|MISCONF|BUSY|NOREPLICAS|EXECABORT)/;

/** Answers 503 while Redis cannot do its part, so that clients try again. */
@Catch()
export class RedisAwayFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    if (!(error instanceof Error) || !REDIS_IS_AWAY.test(error.message)) {
      super.catch(error, host);
      return;
    }
    const response = host.switchToHttp().getResponse<Response>();
    response.status(503).set({ 'Retry-After': '5', 'Cache-Control': 'no-store' });
    response.json({ statusCode: 503, message: 'Redis does not answer. Try again, with the same Idempotency-Key.' });
  }
}
