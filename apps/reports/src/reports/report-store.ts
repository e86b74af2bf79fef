import { Injectable } from '@nestjs/common';
import { AppRedis, key } from '../redis.js';
import { settings } from '../settings.js';

/** How far a report has come. */
export interface Checkpoint {
  /** Id of the last run that was read. */
  readonly cursor: string;
  readonly pages: number;
  readonly rows: number;
}

const { resultTtl } = settings.report;
const pageField = (page: number): string => `page-${String(page).padStart(6, '0')}`;

/** Checkpoints and results, each with its time to live. All keys are made of the job's id, so writing twice is harmless. */
@Injectable()
export class ReportStore {
  constructor(private readonly redis: AppRedis) {}

  async checkpoint(id: string): Promise<Checkpoint | undefined> {
    const [cursor, pages, rows] = await this.redis.hmget(key('checkpoint', id), 'cursor', 'pages', 'rows');
    return cursor ? { cursor, pages: Number(pages), rows: Number(rows) } : undefined;
  }

  /** Saves a page and how far the report has come, in one step. */
  async savePage(id: string, page: string, checkpoint: Checkpoint): Promise<void> {
    const hash = key('checkpoint', id);
    const saving = this.redis.multi().hset(hash, { ...checkpoint, [pageField(checkpoint.pages)]: page });
    await saving.pexpire(hash, resultTtl).exec();
  }

  /**
   * Puts the pages together. The pages stay until they expire: a run that repeats the end needs them.
   * @throws Error if some have expired, so that the next run reads them again
   */
  async storeResult(id: string, header: string, count: number): Promise<void> {
    const saved = await this.redis.hgetall(key('checkpoint', id));
    const fields = Object.keys(saved).filter((field) => field.startsWith('page-'));
    if (fields.length !== count) {
      await this.redis.del(key('checkpoint', id));
      throw new Error(`Pages have expired before the last one was read. RESULT_TTL_MS is too short.`);
    }
    const pages = fields.sort().map((field) => saved[field]);
    await this.redis.set(key('result', id), header + pages.join(''), 'PX', resultTtl);
  }

  /** Null when it has expired, or is not there yet. */
  async result(id: string): Promise<string | null> {
    return this.redis.get(key('result', id));
  }
}
