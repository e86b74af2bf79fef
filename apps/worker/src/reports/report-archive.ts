import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { Redis } from 'ioredis';
import { singletonJobConfig } from '../config/singleton-job.config.js';

/** In SQL: `UPDATE report SET body = $1, token = $2 WHERE token <= $2`. */
const SAVE = `
local newest = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < newest then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'body', ARGV[2])
return 1`;

/**
 * Keeps the latest report. It stands for any resource that two leaders might write to: the current leader, and an old leader that was
 * paused after its last check. The fencing token distinguishes them where the write happens.
 */
@Injectable()
export class ReportArchive implements OnApplicationShutdown {
  readonly #redis: Redis;
  readonly #key: string;

  constructor(@Inject(singletonJobConfig.KEY) { connection, projectName }: ConfigType<typeof singletonJobConfig>) {
    // connects with the first report; a write that times out may still arrive later, and then the token refuses it
    this.#redis = new Redis(connection, { lazyConnect: true, commandTimeout: 2_000, maxRetriesPerRequest: 1 });
    this.#redis.on('error', () => {
      // the report that needs the connection fails itself
    });
    this.#key = `${projectName}:report`;
  }

  /** @throws Error if a later leader has written already */
  async save(body: string, fencingToken: number): Promise<void> {
    const saved = await this.#redis.eval(SAVE, 1, this.#key, fencingToken, body);
    if (saved !== 1) throw new Error(`a later leader has written already: ${body} is dropped`);
  }

  // jobs stop before this, so a run in flight can still save
  onApplicationShutdown(): void {
    this.#redis.disconnect();
  }
}
