import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { duration, FixedRate, type JobObserver, type JobRun, SingletonJobModule } from 'nestjs-singleton-job';
import { type Start } from './contestant.js';
import { jobClasses } from './job-classes.js';

/** This library. `options` are those of its module. */
export const start: Start = async ({ settings, jobs, leads }) => {
  const observer: JobObserver = {
    leadershipGained: ({ job }) => {
      leads(job);
    },
  };
  const classes = jobClasses(
    jobs,
    // the run itself: a literal around it, with a getter of the signal, would cost as much as the run
    (job) => (run: JobRun) => job.run(run),
    ({ name, periodMs, offsetMs = 0 }) => FixedRate(periodMs, { name, offset: duration(`${offsetMs}ms`) }),
  );

  @Module({
    imports: [
      SingletonJobModule.forRoot({
        projectName: settings.project,
        nodeId: settings.node,
        connection: settings.serverUrl,
        observers: settings.reports === 'nothing' ? [] : [observer],
        ...settings.options,
      }),
    ],
    providers: classes,
  })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
};
