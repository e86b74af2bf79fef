import { Injectable } from '@nestjs/common';
import { Cron, type JobRun } from 'nestjs-singleton-job';
import { JobSchedules, occurrenceBefore } from '../durable-jobs/job-scheduler.js';
import { settings } from '../settings.js';
import type { ReportPayload } from './report-handler.js';

const NAME = 'daily-report';
const { dailyCron } = settings.report;

/** The singleton job enqueues the report, and a worker writes it. It belongs to every user. */
@Injectable()
export class DailyReport {
  constructor(private readonly schedules: JobSchedules) {
    schedules.add(NAME, { type: 'report', cron: dailyCron, payload: payloadOf });
  }

  /** The id of the report is `report-${scheduledAt.getTime()}`. */
  @Cron(dailyCron, { name: NAME, timeZone: settings.timeZone })
  async tick({ scheduledAt }: JobRun): Promise<void> {
    await this.schedules.tick(NAME, scheduledAt);
  }
}

function payloadOf(at: Date): ReportPayload {
  return {
    owner: null,
    title: `Daily report of ${at.toISOString()}`,
    from: occurrenceBefore(dailyCron, at).getTime(),
    to: at.getTime() - 1,
    job: null,
    outcomes: ['cancelled', 'failed', 'succeeded'],
    priority: 0,
    notify: false,
  };
}
