import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { JobHandler } from '../durable-jobs/job-handler.js';
import { QUEUE } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';

/** Removes jobs that are kept no longer. BullMQ does so when another job finishes: a quiet queue would keep them. */
@Injectable()
export class CleanUp {
  constructor(@InjectQueue(QUEUE) private readonly queue: Queue) {}

  @JobHandler('clean-up', { schedule: '30 * * * *', deduplicateBy: () => 'one at a time' })
  async run(): Promise<number> {
    const completed = await this.queue.clean(settings.keepFinishedMs, 1_000, 'completed');
    const dead = await this.queue.clean(settings.keepDeadMs, 1_000, 'failed');
    return completed.length + dead.length;
  }
}
