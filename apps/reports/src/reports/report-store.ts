import { Inject, Injectable } from '@nestjs/common';
import { AppRedis } from '../redis.js';
import { type Settings, settings } from '../settings.js';

/** How far a report has come. */
export interface Checkpoint {
  /** Id of the last run that was read. */
  readonly cursor: string;
  readonly pages: number;
  readonly rows: number;
}

const pageField = (page: number): string => `page-${String(page).padStart(6, '0')}`;

/** Checkpoints and results, each with its time to live, and which reports a user has. */
@Injectable()
export class ReportStore {
  readonly #ttl: number;

  constructor(
    private readonly redis: AppRedis,
    @Inject(settings.KEY) { RESULT_TTL_MS }: Settings,
  ) {
    this.#ttl = RESULT_TTL_MS;
  }

  async checkpoint(id: string): Promise<Checkpoint | undefined> {
    const [cursor, pages, rows] = await this.redis.hmget(`checkpoint:${id}`, 'cursor', 'pages', 'rows');
    return cursor ? { cursor, pages: Number(pages), rows: Number(rows) } : undefined;
  }

  /** Saves a page and how far the report has come, in one step. */
  async savePage(id: string, page: string, checkpoint: Checkpoint): Promise<void> {
    const key = `checkpoint:${id}`;
    const saving = this.redis.multi().hset(key, { ...checkpoint, [pageField(checkpoint.pages)]: page });
    await saving.pexpire(key, this.#ttl).exec();
  }

  /**
   * Puts the pages together. The pages stay until they expire: a run that repeats the end needs them.
   * @throws Error if some have expired, so that the next run reads them again
   */
  async storeResult(id: string, header: string, count: number): Promise<void> {
    const saved = await this.redis.hgetall(`checkpoint:${id}`);
    const fields = Object.keys(saved).filter((field) => field.startsWith('page-'));
    if (fields.length !== count) {
      await this.redis.del(`checkpoint:${id}`);
      throw new Error('Pages have expired before the last one was read. RESULT_TTL_MS is too short.');
    }
    const pages = fields.sort().map((field) => saved[field]);
    await this.redis.set(`result:${id}`, header + pages.join(''), 'PX', this.#ttl);
  }

  /** Null when it has expired, or is not there yet. */
  async result(id: string): Promise<string | null> {
    return this.redis.get(`result:${id}`);
  }

  /** A report that is listed keeps its place. */
  async list(user: string, id: string): Promise<void> {
    await this.redis.zadd(`reports:${user}`, 'NX', Date.now(), id);
  }

  /** Ids, the newest first. */
  async listed(user: string, offset: number, limit: number): Promise<string[]> {
    return this.redis.zrevrange(`reports:${user}`, offset, offset + limit - 1);
  }

  async unlist(user: string, id: string): Promise<void> {
    await this.redis.zrem(`reports:${user}`, id);
  }
}
