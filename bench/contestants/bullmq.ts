import 'reflect-metadata';
import { Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Queue, Worker } from 'bullmq';
import { type Job, type Start } from './contestant.js';

/**
 * Job schedulers of BullMQ, and a worker in each process. One queue for all jobs; or with `globalConcurrency`, which counts
 * per queue, a queue for each. The other options are those of the worker.
 */
export const start: Start = async ({ settings, jobs }) => {
  const { globalConcurrency, ...workerOptions } = settings.options;
  const logger = new Logger('BullMQ');
  const { hostname: host, port } = new URL(settings.serverUrl);
  const shared = { connection: { host, port: Number(port) }, prefix: settings.project };
  const groups: Job[][] = globalConcurrency === undefined ? [[...jobs]] : jobs.map((job) => [job]);
  const opened: { close(): Promise<void> }[] = [];

  for (const [index, group] of groups.entries()) {
    const queue = new Queue(`jobs-${index}`, shared);
    if (globalConcurrency !== undefined) await queue.setGlobalConcurrency(Number(globalConcurrency));
    for (const { name, periodMs, offsetMs } of group) {
      await queue.upsertJobScheduler(name, {
        every: periodMs,
        ...(offsetMs === undefined ? {} : { offset: offsetMs }),
      });
    }
    const byName = new Map(group.map((job) => [job.name, job]));
    const worker = new Worker(
      queue.name,
      // the id ends in the slot
      async ({ name, id }) => byName.get(name)?.run({ scheduledAtMs: Number(id?.split(':').at(-1)) }),
      // a slot that has passed is useless, so nothing is kept
      {
        ...shared,
        concurrency: group.length,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
        ...workerOptions,
      },
    );
    const logError = (error: Error): void => {
      logger.error(error.message);
    };
    queue.on('error', logError);
    worker.on('error', logError);
    opened.push(worker, queue);
  }

  @Injectable()
  class Connections implements OnApplicationShutdown {
    async onApplicationShutdown(): Promise<void> {
      for (const part of opened) await part.close();
    }
  }

  @Module({ providers: [Connections] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
};
