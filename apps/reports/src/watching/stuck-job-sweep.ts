import { Injectable, Logger } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { FixedRate } from 'nestjs-singleton-job';
import { JobScheduler } from '../durable-jobs/job-scheduler.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';

/** Looks for jobs that run for more than twice the expected time. */
@Injectable()
export class StuckJobSweep {
  readonly #logger = new Logger(StuckJobSweep.name);
  // a gauge would keep its value on a replica that leads no more
  readonly #stuck = metrics.getMeter('durable-jobs').createCounter('durable_jobs_stuck');

  constructor(
    private readonly store: JobStore,
    private readonly scheduler: JobScheduler,
  ) {
    this.#stuck.add(0);
  }

  @FixedRate(settings.sweepPeriod, { name: 'stuck-job-sweep' })
  async sweep(): Promise<void> {
    for (const { id, startedAt, expected } of await this.store.getJobs('Running', 0, 1_000)) {
      const isStuck = startedAt !== null && Date.now() - Date.parse(startedAt) > 2 * expected;
      if (!isStuck) continue;
      this.#stuck.add(1);
      const reason = `stuck: it has run for more than ${String(2 * expected)} ms`;
      this.#logger.warn(`${id}: ${reason}. Its run is ended, and it is tried again while retries are left.`);
      await this.scheduler.abort(id, reason);
    }
  }
}
