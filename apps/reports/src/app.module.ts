import { BullModule } from '@nestjs/bullmq';
import { Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { JobDispatcher } from './durable-jobs/job-dispatcher.js';
import { JobHandlers } from './durable-jobs/job-handler.js';
import { JobScheduler, JobSchedules } from './durable-jobs/job-scheduler.js';
import { JobStore, QUEUE } from './durable-jobs/job-store.js';
import { RunHistory, RunRecorder } from './history/run-history.js';
import { PageController } from './page/page.controller.js';
import { appRedis, FAIL_FAST, WAIT } from './redis.js';
import { DailyReport } from './reports/daily-report.js';
import { ProgressFeed } from './reports/progress-feed.js';
import { ReportHandler } from './reports/report-handler.js';
import { ReportStore } from './reports/report-store.js';
import { ReportsController } from './reports/reports.controller.js';
import { Submissions } from './reports/submissions.js';
import { settings } from './settings.js';
import { StopLimit } from './stop-limit.js';
import { CleanUp } from './watching/clean-up.js';
import { JobMetrics, MetricsController } from './watching/metrics.js';
import { StuckJobSweep } from './watching/stuck-job-sweep.js';
import { WebhookHandler } from './webhooks/webhook-handler.js';

const { redisUrl: url, projectName, timeZone, singletonJobs } = settings;

/** The queue over a connection with these options. */
function queue(options: typeof FAIL_FAST | typeof WAIT) {
  const failsFast = options === FAIL_FAST;
  const shared = {
    connection: { url, ...options },
    prefix: projectName,
    skipWaitingForReady: failsFast,
    skipVersionCheck: failsFast,
  };
  return [
    BullModule.registerQueue({ name: QUEUE, ...shared }),
    BullModule.registerFlowProducer({ name: QUEUE, ...shared }),
  ];
}

/** Web replicas need the handlers too: they enqueue with the options of the decorators. */
const SHARED: Provider[] = [
  JobHandlers,
  JobStore,
  JobScheduler,
  JobMetrics,
  ReportHandler,
  ReportStore,
  RunHistory,
  WebhookHandler,
  CleanUp,
  StopLimit,
];

/** Takes requests and enqueues. The singleton jobs run here, on one web replica at a time. */
@Module({
  imports: [
    DiscoveryModule,
    ...queue(FAIL_FAST),
    SingletonJobOpenTelemetryModule,
    SingletonJobModule.forRoot({
      projectName,
      connection: url,
      nodeId: settings.worker.name,
      timeZone,
      ...singletonJobs,
      observers: [RunRecorder, JobSchedules],
    }),
  ],
  controllers: [ReportsController, PageController, MetricsController],
  providers: [
    ...SHARED,
    appRedis(FAIL_FAST),
    JobSchedules,
    RunRecorder,
    DailyReport,
    ProgressFeed,
    Submissions,
    StuckJobSweep,
  ],
})
export class WebModule {}

/** Does the work. */
@Module({
  imports: [DiscoveryModule, ...queue(WAIT)],
  controllers: [MetricsController],
  providers: [...SHARED, appRedis(WAIT), JobDispatcher],
})
export class WorkerModule {}
