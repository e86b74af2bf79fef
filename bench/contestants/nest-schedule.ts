import 'reflect-metadata';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { type Host, type Job, type Start } from './contestant.js';
import { jobClasses } from './job-classes.js';

/** `@nestjs/schedule` alone: every replica runs every job. */
export const start: Start = (host) => startSchedule(host, (job) => () => job.run({}));

/** An application with an `@Interval` method for each job. */
export async function startSchedule({ jobs }: Host, method: (job: Job) => () => Promise<void>): Promise<void> {
  @Module({})
  class AppModule {}

  const root: DynamicModule = {
    module: AppModule,
    imports: [ScheduleModule.forRoot()],
    providers: jobClasses(jobs, method, ({ name, periodMs }) => Interval(name, periodMs)),
  };
  await NestFactory.createApplicationContext(root);
}
