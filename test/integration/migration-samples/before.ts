import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval } from '@nestjs/schedule';

@Injectable()
export class TasksService {
  @Cron(CronExpression.EVERY_10_SECONDS)
  everyTenSeconds(): void {}

  @Cron('0 30 3 * * *', { name: 'nightly', timeZone: 'Europe/Berlin' })
  nightly(): void {}

  @Cron('*/5 * * * * *', { name: 'report', waitForCompletion: true })
  async report(): Promise<void> {}

  @Cron(CronExpression.EVERY_SECOND, { name: 'off', disabled: true })
  off(): void {}

  @Cron(CronExpression.EVERY_SECOND, { name: 'delayed', initialDelay: 3_000 })
  delayed(): void {}

  @Interval('poll', 2_000)
  async poll(): Promise<void> {}

  @Interval(4_000)
  sweep(): void {}
}
