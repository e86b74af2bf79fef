import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, type JobEvents, type JobRun, OnJobEvent, SingletonJobRegistry } from 'nestjs-singleton-job';
import { DurableJobs } from './durable-jobs/durable-jobs.js';
import type { ReportPayload } from './reports/report-handler.js';

/** How often a leader looks whether its last run has failed. */
const LOOK_EVERY_MS = 5_000;

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

  /**
   * Triggers the job until a run of this leader has succeeded, and again after a run that failed. Otherwise a fire time is up to a day late
   * if the leader before ended between its claim and the enqueuing, if Redis was away, or after the first deployment.
   */
  @OnJobEvent('leadershipGained')
  async catchUp({ job, fencingToken }: JobEvents['leadershipGained']): Promise<void> {
    do {
      const { lastRun } = this.registry.get(job);
      const hasEnqueued = lastRun?.fencingToken === fencingToken && lastRun.outcome === 'succeeded';
      if (!hasEnqueued) await this.registry.trigger(job);
      await delay(LOOK_EVERY_MS, undefined, { ref: false });
    } while (this.registry.get(job).fencingToken === fencingToken);
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
