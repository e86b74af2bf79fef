import { Module } from '@nestjs/common';
import { ConfigModule, type ConfigType } from '@nestjs/config';
import { TerminusModule } from '@nestjs/terminus';
import { singletonJobConfig } from './config/singleton-job.config.js';
import { workerConfig } from './config/worker.config.js';
import { EventFeed } from './events/event-feed.js';
import { EventsModule } from './events/events.module.js';
import { HealthController } from './health/health.controller.js';
import { Heartbeat } from './heartbeat/heartbeat.js';
import { JobsController } from './jobs/jobs.controller.js';
import { OverviewController } from './jobs/overview.controller.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { PriceFeed } from './prices/price-feed.js';
import { PriceImport } from './prices/price-import.js';
import { PricesController } from './prices/prices.controller.js';
import { Prices } from './prices/prices.js';
import { WarmUp } from './prices/warm-up.js';
import { DailyReport } from './reports/daily-report.js';
import { ReportArchive } from './reports/report-archive.js';
import { SpanExport } from './tracing/span-export.js';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';

@Module({
  imports: [
    ConfigModule.forRoot({ load: [singletonJobConfig, workerConfig], isGlobal: true, ignoreEnvFile: true }),
    SingletonJobModule.forRootAsync({
      imports: [EventsModule],
      inject: [singletonJobConfig.KEY, EventFeed],
      useFactory: (config: ConfigType<typeof singletonJobConfig>, feed: EventFeed) => ({
        ...config,
        observers: [feed],
      }),
    }),
    // health checks come every few seconds, and their caller gets the result
    TerminusModule.forRoot({ logger: false }),
    EventsModule,
    MetricsModule,
  ],
  controllers: [OverviewController, HealthController, JobsController, PricesController],
  providers: [
    Heartbeat,
    Prices,
    PriceFeed,
    PriceImport,
    DailyReport,
    ReportArchive,
    SpanExport,
    WarmUp,
    SingletonJobHealthIndicator,
  ],
})
export class AppModule {}
