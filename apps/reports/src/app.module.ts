import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { BullMQOtel } from 'bullmq-otel';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { DurableJobsModule } from './durable-jobs/durable-jobs.module.js';
import { RunHistory, RunRecorder } from './history/run-history.js';
import { OperatorController } from './operator/operator.controller.js';
import { PageController } from './page/page.controller.js';
import { AppRedis } from './redis.js';
import { ProgressFeed } from './reports/progress-feed.js';
import { ReportHandler } from './reports/report-handler.js';
import { ReportStore } from './reports/report-store.js';
import { ReportsController } from './reports/reports.controller.js';
import { Submissions } from './reports/submissions.js';
import { Schedules } from './schedules.js';
import { type Settings, settings } from './settings.js';
import { CleanUp } from './watching/clean-up.js';
import { HealthController } from './watching/health.controller.js';
import { JobMetrics, MetricsController } from './watching/metrics.js';
import { WebhookHandler } from './webhooks/webhook-handler.js';

/**
 * What both kinds of process have. Web replicas need the handlers too: they enqueue with the options of the decorators.
 */
@Module({})
class SharedModule {
  static forRoot({ runsJobs }: { readonly runsJobs: boolean }): DynamicModule {
    return {
      module: SharedModule,
      global: true,
      imports: [
        ConfigModule.forRoot({ load: [settings], isGlobal: true, ignoreEnvFile: true }),
        DurableJobsModule.forRootAsync({ runsJobs, inject: [settings.KEY], useFactory: durableJobsOptions }),
      ],
      controllers: [MetricsController, HealthController],
      providers: [
        { provide: AppRedis, inject: [settings.KEY], useFactory: (env: Settings) => new AppRedis(env, runsJobs) },
        JobMetrics,
        RunHistory,
        ReportHandler,
        ReportStore,
        WebhookHandler,
        CleanUp,
      ],
      exports: [AppRedis, ReportStore],
    };
  }
}

/** Takes requests and enqueues. The singleton jobs run here, on one web replica at a time. */
@Module({
  imports: [
    SharedModule.forRoot({ runsJobs: false }),
    SingletonJobOpenTelemetryModule,
    SingletonJobModule.forRootAsync({
      inject: [settings.KEY],
      useFactory: (env: Settings) => ({
        projectName: env.PROJECT_NAME,
        connection: env.REDIS_URL,
        nodeId: env.NODE_ID,
        timeZone: env.TIME_ZONE,
        lockExpiry: env.LOCK_EXPIRY_MS,
        jobs: { 'daily-report': { cron: env.DAILY_CRON } },
      }),
    }),
  ],
  controllers: [ReportsController, OperatorController, PageController],
  providers: [Schedules, RunRecorder, ProgressFeed, Submissions],
})
export class WebModule {}

/** Does the work. */
@Module({ imports: [SharedModule.forRoot({ runsJobs: true })] })
export class WorkerModule {}

function durableJobsOptions(env: Settings) {
  return {
    connection: env.REDIS_URL,
    prefix: env.PROJECT_NAME,
    redisTimeout: env.REDIS_TIMEOUT_MS,
    worker: {
      name: env.NODE_ID,
      concurrency: env.CONCURRENCY,
      lockDuration: env.LOCK_DURATION_MS,
      stalledInterval: env.STALLED_INTERVAL_MS,
      maxStalledCount: env.MAX_STALLED_COUNT,
    },
    overrides: {
      report: { timeout: env.REPORT_TIMEOUT_MS, retryDelay: env.REPORT_RETRY_DELAY_MS },
      webhook: { timeout: env.WEBHOOK_TIMEOUT_MS, retryDelay: env.WEBHOOK_RETRY_DELAYS_MS },
    },
    // jobs outlive their results
    keepCompleted: 2 * env.RESULT_TTL_MS,
    unknownTypeDelay: env.UNKNOWN_TYPE_DELAY_MS,
    telemetry: new BullMQOtel({ tracerName: 'durable-jobs', enableMetrics: true }),
  };
}
