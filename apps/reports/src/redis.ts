import { type ArgumentsHost, Catch, type OnApplicationShutdown } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { Response } from 'express';
import { Redis } from 'ioredis';
import { type Settings } from './settings.js';

/** Results, checkpoints, idempotency keys, the run history. The jobs have a connection of their own. */
export class AppRedis extends Redis implements OnApplicationShutdown {
  /**
   * `isPatient`: commands wait until Redis is back. Otherwise they fail now, and nothing waits in memory: for requests
   * over HTTP.
   */
  constructor({ REDIS_URL, PROJECT_NAME, REDIS_TIMEOUT_MS }: Settings, isPatient: boolean) {
    const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 0, socketTimeout: REDIS_TIMEOUT_MS };
    const shared = { keyPrefix: `${PROJECT_NAME}:`, retryStrategy: () => 500 };
    super(REDIS_URL, { ...shared, ...(isPatient ? { maxRetriesPerRequest: null } : failFast) });
    // the commands that need the connection fail or wait by themselves
    this.on('error', () => undefined);
  }

  onApplicationShutdown(): void {
    this.disconnect();
  }
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
