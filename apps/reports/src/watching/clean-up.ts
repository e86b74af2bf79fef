import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { KEEP_DEAD_MS } from '../durable-jobs/durable-jobs.options.js';
import { JobHandler } from '../durable-jobs/job-handler.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { ReportStore } from '../reports/report-store.js';
import { type Settings, settings } from '../settings.js';

const PAGE = 1_000;

/**
 * Removes jobs that are kept no longer, and their places in the lists. BullMQ does so when another job ends: a quiet
 * queue would keep them.
 */
@Injectable()
export class CleanUp {
  constructor(
    private readonly queue: Queue,
    private readonly store: JobStore,
    private readonly reports: ReportStore,
    @Inject(settings.KEY) private readonly env: Settings,
  ) {}

  @JobHandler('clean-up', { deduplicateBy: () => 'one at a time' })
  async run(): Promise<void> {
    await this.queue.clean(2 * this.env.RESULT_TTL_MS, PAGE, 'completed');
    await this.queue.clean(KEEP_DEAD_MS, PAGE, 'failed');
    for (const { name } of this.env.USERS) await this.#forget(name);
  }

  async #forget(user: string): Promise<void> {
    for (let offset = 0, isLast = false; !isLast;) {
      const ids = await this.reports.listed(user, offset, PAGE);
      isLast = ids.length < PAGE;
      offset += ids.length;
      for (const id of ids) {
        if ((await this.store.getStatus(id)) !== null) continue;
        await this.reports.unlist(user, id);
        offset -= 1;
      }
    }
  }
}
