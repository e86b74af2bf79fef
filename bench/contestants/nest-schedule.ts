import 'reflect-metadata';
import { type DynamicModule, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { type Host, type Job, type Start } from './contestant.js';
import { jobClasses } from './job-classes.js';

/** `@nestjs/schedule` alone: every replica runs every job. */
export const start: Start = (host) => startSchedule(host, (job) => () => job.run({}));

/** An application with an `@Interval` method for each job, and what `onShutdown` closes when it ends. */
export async function startSchedule(
  { jobs }: Host,
  method: (job: Job) => () => Promise<void>,
  onShutdown: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  @Injectable()
  class Connections implements OnApplicationShutdown {
    async onApplicationShutdown(): Promise<void> {
      await onShutdown();
    }
  }

  const classes = jobClasses(jobs, method, ({ name, periodMs }) => Interval(name, periodMs));

  @Module({})
  class AppModule {}

  const root: DynamicModule = {
    module: AppModule,
    imports: [ScheduleModule.forRoot()],
    providers: [...classes, Connections],
  };
  const app = await NestFactory.createApplicationContext(root);
  app.enableShutdownHooks();
}
