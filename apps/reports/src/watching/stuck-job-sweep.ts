import { Injectable, Logger } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { FixedRate } from 'nestjs-singleton-job';
import { JobScheduler } from '../durable-jobs/job-scheduler.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';

const LIMIT_MS = 2 * settings.report.expected;

/** Looks for jobs that run for more than twice the expected time. */
@Injectable()
export class StuckJobSweep {
  readonly #logger = new Logger(StuckJobSweep.name);
  readonly #stuck = metrics.getMeter('durable-jobs').createGauge('durable_jobs_stuck');

  constructor(
    private readonly store: JobStore,
    private readonly scheduler: JobScheduler,
  ) {
    this.#stuck.record(0);
  }

  @FixedRate(settings.sweepPeriod, { name: 'stuck-job-sweep' })
  async sweep(): Promise<void> {
    const running = await this.store.getJobs('Running', 0, 1_000);
    const stuck = running.filter(({ startedAt }) => startedAt && Date.now() - Date.parse(startedAt) > LIMIT_MS);
    this.#stuck.record(stuck.length);
    for (const { id } of stuck) {
      const reason = `stuck: it has run for more than ${String(LIMIT_MS)} ms`;
      this.#logger.warn(`${id}: ${reason}. Its run is ended, and it is tried again while retries are left.`);
      await this.scheduler.abort(id, reason);
    }
  }
}
