import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval } from 'nestjs-singleton-job';
import { Work } from './work.js';

@Injectable()
export class TasksService {
  constructor(private readonly work: Work) {}

  @Cron(CronExpression.EVERY_10_SECONDS)
  everyTenSeconds(): void {
    this.work.note('every ten seconds');
  }

  @Cron('0 30 3 * * *', { name: 'nightly', timeZone: 'Europe/Berlin' })
  nightly(): void {
    this.work.note('nightly');
  }

  @Cron('*/5 * * * * *', { name: 'report' })
  async report(): Promise<void> {
    await this.work.take(7_000);
  }

  @Cron(CronExpression.EVERY_SECOND, { name: 'off', enabled: false })
  off(): void {
    this.work.note('off');
  }

  @Cron(CronExpression.EVERY_SECOND, { name: 'delayed', initialDelay: 3_000 })
  delayed(): void {
    this.work.note('delayed');
  }

  @Interval('poll', 2_000)
  async poll(): Promise<void> {
    await this.work.take(500);
  }

  @Interval(4_000)
  sweep(): void {
    throw new Error('no disk');
  }
}
