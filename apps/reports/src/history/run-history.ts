import { Injectable } from '@nestjs/common';
import { type JobEvents, OnJobEvent } from 'nestjs-singleton-job';
import { AppRedis } from '../redis.js';

/** One run of a singleton job. Its id in the stream begins with the time at which it ended. */
export interface RecordedRun {
  readonly id: string;
  readonly job: string;
  readonly outcome: 'succeeded' | 'failed' | 'cancelled';
  readonly scheduledAt: string;
  readonly durationMs: string;
  readonly fencingToken: string;
  readonly error: string;
}

const STREAM = 'runs';
const MAX_RUNS = 100_000;
export const PAGE_SIZE = 500;

/** Writes down each run of a singleton job in this process. */
@Injectable()
export class RunRecorder {
  constructor(private readonly redis: AppRedis) {}

  @OnJobEvent('runSucceeded')
  async succeeded(run: JobEvents['runSucceeded']): Promise<void> {
    await this.#add(run, 'succeeded');
  }

  @OnJobEvent('runFailed')
  async failed(run: JobEvents['runFailed']): Promise<void> {
    await this.#add(run, 'failed', String(run.error));
  }

  @OnJobEvent('runCancelled')
  async cancelled(run: JobEvents['runCancelled']): Promise<void> {
    await this.#add(run, 'cancelled', run.code);
  }

  async #add(run: JobEvents['runSucceeded'], outcome: RecordedRun['outcome'], error = ''): Promise<void> {
    const { job, scheduledAt, durationMs, fencingToken } = run;
    const fields = { job, outcome, scheduledAt: scheduledAt.toISOString(), durationMs, fencingToken, error };
    const flat = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
    await this.redis.xadd(STREAM, 'MAXLEN', '~', MAX_RUNS, '*', ...flat);
  }
}

/** Reads the runs of a span of time in pages. */
@Injectable()
export class RunHistory {
  constructor(private readonly redis: AppRedis) {}

  /** The runs after `cursor`, the id of the last one read. Fewer than `PAGE_SIZE` are the last page. */
  async page({ from, to }: { readonly from: number; readonly to: number }, cursor?: string): Promise<RecordedRun[]> {
    const start = cursor === undefined ? String(from) : `(${cursor}`;
    const entries = await this.redis.xrange(STREAM, start, String(to), 'COUNT', PAGE_SIZE);
    return entries.map(([id, fields]) => {
      const run: Record<string, string> = { id };
      for (let i = 0; i < fields.length; i += 2) run[fields[i] ?? ''] = fields[i + 1] ?? '';
      return run as unknown as RecordedRun;
    });
  }

  /** When the oldest run that is kept ended, in ms since the epoch. */
  async oldest(): Promise<number | undefined> {
    const [entry] = await this.redis.xrange(STREAM, '-', '+', 'COUNT', 1);
    return entry && Number.parseInt(entry[0]);
  }
}
