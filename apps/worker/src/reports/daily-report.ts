import { Inject, Injectable, Logger } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { setTimeout as delay } from 'node:timers/promises';
import { workerConfig } from '../config/worker.config.js';
import { ReportArchive } from './report-archive.js';
import { Cron, type JobRun } from 'nestjs-singleton-job';

@Injectable()
export class DailyReport {
  readonly #logger = new Logger(DailyReport.name);

  constructor(
    private readonly archive: ReportArchive,
    @Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>,
  ) {}

  // it blocks the event loop for a while: a late takeover after a crash is better than a lost lease
  @Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore', lockExpiry: '60s' })
  async write(run: JobRun): Promise<void> {
    const report = await this.#compose(run);
    // a cheap check right before the write; the archive makes the final check
    run.assertLeader();
    await this.archive.save(report, run.fencingToken);
    this.#logger.log(`archived: ${report}`);
  }

  async #compose({ scheduledAt, signal }: JobRun): Promise<string> {
    const { takesMs, computesMs } = this.config.dailyReport;
    await delay(takesMs, undefined, { signal });
    compute(computesMs);
    // named after its occurrence, because a run after a crash may start late
    return `report of ${scheduledAt.toISOString()}`;
  }
}

/** Stands for a long computation: it blocks the event loop, and leaves the CPU to others. */
function compute(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
}
