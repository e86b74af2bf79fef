import { Injectable } from '@nestjs/common';
import { Cron, type JobEvents, type JobRun, OnJobEvent, SingletonJobRegistry } from 'nestjs-singleton-job';
import { setTimeout as delay } from 'node:timers/promises';
import { DurableJobs } from './durable-jobs/durable-jobs.js';
import type { ReportPayload } from './reports/report-handler.js';

/** The singleton jobs say when. They enqueue, and workers do the work. */
@Injectable()
export class Schedules {
  /** How often a leader looks whether a fire time was left out, in milliseconds. Tests look more often. */
  protected readonly lookEveryMs: number = 60_000;

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
   * While this replica leads, it looks once a minute. It triggers the job if its last run has not succeeded, or if a
   * fire time was dropped or missed since its last trigger. Otherwise a fire time is up to a day late in three cases:
   * the leader before ended between its claim and the enqueuing, Redis was away, or this is the first deployment.
   */
  @OnJobEvent('leadershipGained')
  async catchUp({ job, fencingToken }: JobEvents['leadershipGained']): Promise<void> {
    let seen = 0;
    do {
      const { lastRun, counters } = this.registry.get(job);
      const leftOut = counters.dropped + counters.missed;
      const hasSucceeded = lastRun?.fencingToken === fencingToken && lastRun.outcome === 'succeeded';
      const isDone = hasSucceeded && leftOut === seen;
      if (!isDone && (await this.registry.trigger(job)).started) seen = leftOut;
      await delay(this.lookEveryMs, undefined, { ref: false });
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
