import { Injectable } from '@nestjs/common';
import { Cron, type JobEvents, type JobObserver, type JobRun } from 'nestjs-singleton-job';
import { JobScheduler, occurrenceBefore } from '../durable-jobs/job-scheduler.js';
import { settings } from '../settings.js';
import type { ReportPayload } from './report-handler.js';

const NAME = 'daily-report';
const { dailyCron } = settings.report;

/** The singleton job enqueues the report, and a worker writes it. It belongs to every user. */
@Injectable()
export class DailyReport implements JobObserver {
  constructor(private readonly scheduler: JobScheduler) {}

  @Cron(dailyCron, { name: NAME, timeZone: settings.timeZone })
  async tick({ scheduledAt }: JobRun): Promise<void> {
    // a scheduler that was killed after it had claimed the occurrence before this one has not enqueued it
    await this.enqueue(occurrenceBefore(dailyCron, scheduledAt));
    await this.enqueue(scheduledAt);
  }

  /** The new leader enqueues the newest occurrence, so that it exists after a fresh deployment. */
  async leadershipGained({ job }: JobEvents['leadershipGained']): Promise<void> {
    if (job === NAME) await this.enqueue(occurrenceBefore(dailyCron, new Date()));
  }

  protected async enqueue(at: Date): Promise<void> {
    const payload: ReportPayload = {
      owner: null,
      title: `Daily report of ${at.toISOString()}`,
      from: occurrenceBefore(dailyCron, at).getTime(),
      to: at.getTime() - 1,
      job: null,
      outcomes: ['cancelled', 'failed', 'succeeded'],
      priority: 0,
      notify: false,
    };
    await this.scheduler.enqueueOccurrence('report', payload, at);
  }
}
