import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { TerminusModule } from '@nestjs/terminus';
import { SingletonJobModule } from 'nestjs-singleton-job';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';
import { singletonJobConfig } from './config/singleton-job.config.js';
import { workerConfig } from './config/worker.config.js';
import { RunContext } from './context/run-context.js';
import { EventFeed } from './events/event-feed.js';
import { HealthController } from './health/health.controller.js';
import { EventsController } from './http/events.controller.js';
import { JobsController } from './http/jobs.controller.js';
import { PricesController } from './http/prices.controller.js';
import { DailyReport } from './jobs/daily-report.js';
import { Heartbeat } from './jobs/heartbeat.js';
import { PriceFeed } from './jobs/price-feed.js';
import { Prices } from './jobs/prices.js';
import { ReportArchive } from './jobs/report-archive.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { PriceImport } from './operations/price-import.js';
import { SpanExport } from './tracing/span-export.js';

@Module({
  imports: [
    ConfigModule.forRoot({ load: [singletonJobConfig, workerConfig], isGlobal: true, ignoreEnvFile: true }),
    SingletonJobModule.forRootAsync(singletonJobConfig.asProvider()),
    // who asks is told; the log need not be, every few seconds
    TerminusModule.forRoot({ logger: false }),
    MetricsModule,
  ],
  controllers: [HealthController, JobsController, PricesController, EventsController],
  providers: [
    Heartbeat,
    Prices,
    PriceFeed,
    PriceImport,
    DailyReport,
    ReportArchive,
    EventFeed,
    RunContext,
    SpanExport,
    SingletonJobHealthIndicator,
  ],
})
export class AppModule {}
