import { Injectable } from '@nestjs/common';
import { Cron, type JobEvents, type JobRun, OnJobEvent, SingletonJobRegistry } from 'nestjs-singleton-job';
import { DurableJobs } from './durable-jobs/durable-jobs.js';
import type { ReportPayload } from './reports/report-handler.js';

/** The singleton jobs say when. They enqueue, and workers do the work. */
@Injectable()
export class Schedules {
  constructor(
    private readonly jobs: DurableJobs,
    private readonly registry: SingletonJobRegistry,
  ) {}

  /** The id of the report is `report-<ms since the epoch>`. It belongs to every user. */
  @Cron('0 3 * * *', { name: 'daily-report' })
  async dailyReport(run: JobRun): Promise<void> {
    await this.jobs.enqueueFireTimes(run, 'report', dailyReport);
  }

  @Cron('30 * * * *', { name: 'clean-up' })
  async cleanUp(run: JobRun): Promise<void> {
    await this.jobs.enqueueFireTimes(run, 'clean-up', () => ({}));
  }

  /** The leader before may have ended between its claim and the enqueuing, and after a deployment there may be none to come for a day. */
  @OnJobEvent('leadershipGained')
  async catchUp({ job }: JobEvents['leadershipGained']): Promise<void> {
    await this.registry.trigger(job);
  }
}

/** The runs since the report before: none is left out when fire times were missed. */
function dailyReport(at: Date, since: Date | null): ReportPayload {
  return {
    owner: null,
    title: `Daily report of ${at.toISOString()}`,
    from: since?.getTime() ?? 0,
    to: at.getTime() - 1,
    job: null,
    outcomes: ['cancelled', 'failed', 'succeeded'],
    priority: 0,
    notify: false,
  };
}
