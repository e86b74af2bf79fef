import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Queue, Worker } from 'bullmq';
import { type Start } from './contestant.js';

@Module({})
class AppModule {}

/** Job schedulers of BullMQ in one queue, and a worker in each process. */
export const start: Start = async ({ settings, jobs }) => {
  const { hostname: host, port } = new URL(settings.serverUrl);
  const shared = { connection: { host, port: Number(port) }, prefix: settings.project };
  const queue = new Queue('jobs', shared);
  for (const { name, periodMs, offsetMs = 0 } of jobs) {
    await queue.upsertJobScheduler(name, { every: periodMs, offset: offsetMs });
  }
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const worker = new Worker(
    queue.name,
    // the id ends in the slot
    async ({ name, id }) => byName.get(name)?.run({ scheduledAt: Number(id?.split(':').at(-1)) }),
    // a slot that has passed is useless, so nothing is kept
    { ...shared, concurrency: jobs.length, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  );
  worker.on('error', (error) => {
    console.error(error.message);
  });
  await NestFactory.createApplicationContext(AppModule);
};
