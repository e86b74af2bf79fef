import { ConfigurableModuleBuilder, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FlowProducer, Queue, type QueueOptions } from 'bullmq';
import { DurableJobs } from './durable-jobs.js';
import { DURABLE_JOBS_OPTIONS, type DurableJobsOptions, JobsRedis, QUEUE } from './durable-jobs.options.js';
import { JobHandlers } from './job-handler.js';
import { JobStore } from './job-store.js';
import { JobWorker } from './job-worker.js';

function providersOf(runsJobs: boolean): Provider[] {
  const over = (redis: JobsRedis, { telemetry }: DurableJobsOptions): QueueOptions => ({
    connection: redis,
    prefix: redis.prefix,
    telemetry,
    // without Redis, a process that runs no jobs fails at once
    skipWaitingForReady: !runsJobs,
    skipVersionCheck: !runsJobs,
  });
  // without Redis, their commands fail or wait by themselves
  const ignore = (): void => undefined;
  return [
    {
      provide: JobsRedis,
      inject: [DURABLE_JOBS_OPTIONS],
      useFactory: ({ connection, prefix = 'durable-jobs', redisTimeout = 2_000 }: DurableJobsOptions) =>
        new JobsRedis(connection, prefix, runsJobs ? undefined : redisTimeout),
    },
    {
      provide: Queue,
      inject: [JobsRedis, DURABLE_JOBS_OPTIONS],
      useFactory: (...parts: Parameters<typeof over>) => new Queue(QUEUE, over(...parts)).on('error', ignore),
    },
    {
      provide: FlowProducer,
      inject: [JobsRedis, DURABLE_JOBS_OPTIONS],
      useFactory: (...parts: Parameters<typeof over>) => new FlowProducer(over(...parts)).on('error', ignore),
    },
    JobHandlers,
    JobStore,
    DurableJobs,
    ...(runsJobs ? [JobWorker] : []),
  ];
}

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DurableJobsOptions>({
  optionsInjectionToken: DURABLE_JOBS_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras({ runsJobs: false }, (definition, { runsJobs }) => {
    const providers = providersOf(runsJobs);
    return {
      ...definition,
      global: true,
      imports: [...(definition.imports ?? []), DiscoveryModule],
      providers: [...(definition.providers ?? []), ...providers],
      exports: [Queue, JobHandlers, JobStore, DurableJobs, ...(runsJobs ? [JobWorker] : [])],
    };
  })
  .build();

/**
 * Jobs that survive crashes, over BullMQ. Import it once, in the root module: it is global. `runsJobs`: whether this
 * process runs jobs too, or only enqueues them. `forRootAsync` takes `inject` and `useFactory`, as of a configuration.
 * @example
 * ```ts
 * DurableJobsModule.forRoot({ connection: 'redis://127.0.0.1:6379', prefix: 'shop', runsJobs: true })
 * ```
 */
@Module({})
export class DurableJobsModule extends ConfigurableModuleClass {}
