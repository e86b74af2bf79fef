import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { Cron, type JobRun } from 'nestjs-singleton-job';
import { workerConfig } from '../config/worker.config.js';
import { ReportArchive } from './report-archive.js';

@Injectable()
export class DailyReport {
  readonly #logger = new Logger(DailyReport.name);

  constructor(
    private readonly archive: ReportArchive,
    @Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>,
  ) {}

  // it computes for a while: better a late hand-over after a crash than a lease lost to a pause
  @Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore', lockExpiry: '60s' })
  async write(run: JobRun): Promise<void> {
    const report = await this.#compose(run);
    // nothing to pay for a check right before what cannot be undone; the archive has the last word
    run.assertLeader();
    await this.archive.save(report, run.fencingToken);
    this.#logger.log(`archived: ${report}`);
  }

  async #compose({ scheduledAt, signal }: JobRun): Promise<string> {
    const { takesMs, computesMs } = this.config.dailyReport;
    await delay(takesMs, undefined, { signal });
    compute(computesMs);
    // named after its occurrence, not after the time of day: a run that makes up for a crash may start late
    return `report of ${scheduledAt.toISOString()}`;
  }
}

/** Stands in for a long computation: the event loop does not turn meanwhile. */
function compute(forMs: number): void {
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs);
}
