import { Controller, Get, Inject, Injectable, type OnApplicationBootstrap, Optional, Req, Res } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { AggregationType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { Queue } from 'bullmq';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JobHandlers } from '../durable-jobs/job-handler.js';
import { CANCELLED_REASON } from '../durable-jobs/job-store.js';
import { JobTimeoutError, JobWorker } from '../durable-jobs/job-worker.js';
import { type Settings, settings } from '../settings.js';

const BOUNDARIES_MS = [50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000];

const exporter = new PrometheusExporter({ preventServerStart: true });
const aggregation = {
  type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
  options: { boundaries: BOUNDARIES_MS },
} as const;
const views = [{ instrumentName: 'bullmq.job.duration', aggregation }];
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter], views }));

@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly queue: Queue,
    @Optional() private readonly jobs?: JobWorker,
  ) {}

  @Get()
  async scrape(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    // the queue of a worker waits while Redis is away, and so would a scrape
    if (this.jobs === undefined) {
      await this.queue.recordJobCountsMetric('waiting', 'prioritized', 'delayed', 'active').catch(() => undefined);
    }
    exporter.getMetricsRequestHandler(request, response);
  }
}

/** What BullMQ's own metrics do not have. */
@Injectable()
export class JobMetrics implements OnApplicationBootstrap {
  readonly #meter = metrics.getMeter('durable-jobs');

  constructor(
    private readonly queue: Queue,
    private readonly handlers: JobHandlers,
    @Inject(settings.KEY) private readonly env: Settings,
    @Optional() private readonly jobs?: JobWorker,
  ) {}

  onApplicationBootstrap(): void {
    if (this.jobs === undefined) this.#watchQueue();
    else this.#watchWorker(this.jobs);
  }

  #watchQueue(): void {
    this.#meter.createObservableGauge('durable_jobs_workers').addCallback(async (result) => {
      const workers = await this.queue.getWorkersCount().catch(() => undefined);
      if (workers !== undefined) result.observe(workers);
    });
  }

  #watchWorker(jobs: JobWorker): void {
    const [runs, dead, timedOut] = ['runs', 'dead', 'timed_out'].map((name) =>
      this.#meter.createCounter(`durable_jobs_${name}`),
    );
    // a counter that appears with its first count has no increase that an alert could see
    for (const type of this.handlers.types) for (const counter of [runs, dead, timedOut]) counter?.add(0, { type });
    jobs.worker.on('completed', ({ name: type }) => runs?.add(1, { type }));
    jobs.worker.on('failed', (job, error) => {
      if (job === undefined || error.message === CANCELLED_REASON) return;
      const type = job.name;
      runs?.add(1, { type });
      if (error instanceof JobTimeoutError) timedOut?.add(1, { type });
      if (job.finishedOn) dead?.add(1, { type });
    });
    this.#meter.createObservableGauge('durable_jobs_worker_utilisation').addCallback((result) => {
      result.observe(jobs.running / this.env.CONCURRENCY);
    });
  }
}
