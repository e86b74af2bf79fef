import type { IncomingMessage, ServerResponse } from 'node:http';
import { InjectQueue } from '@nestjs/bullmq';
import { Controller, Get, Injectable, type OnApplicationBootstrap, Optional, Req, Res } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type Job, Queue } from 'bullmq';
import { JobDispatcher } from '../durable-jobs/job-dispatcher.js';
import { JobHandlers } from '../durable-jobs/job-handler.js';
import { CANCELLED_REASON } from '../durable-jobs/job-states.js';
import { QUEUE, type StoredJob } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';

const exporter = new PrometheusExporter({ preventServerStart: true });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));

@Controller('metrics')
export class MetricsController {
  @Get()
  scrape(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    exporter.getMetricsRequestHandler(request, response);
  }
}

const DURATION = {
  unit: 's',
  advice: { explicitBucketBoundaries: [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800] },
};

/** What is measured of the queue in web replicas, and of the jobs in workers. */
@Injectable()
export class JobMetrics implements OnApplicationBootstrap {
  readonly #meter = metrics.getMeter('durable-jobs');
  readonly #completed = this.#meter.createCounter('durable_jobs_completed');
  readonly #failed = this.#meter.createCounter('durable_jobs_failed');
  readonly #dead = this.#meter.createCounter('durable_jobs_dead');
  readonly #duration = this.#meter.createHistogram('durable_jobs_duration_seconds', DURATION);

  constructor(
    @InjectQueue(QUEUE) private readonly queue: Queue,
    private readonly handlers: JobHandlers,
    @Optional() private readonly dispatcher?: JobDispatcher,
  ) {}

  onApplicationBootstrap(): void {
    this.#meter.createObservableGauge('durable_jobs_timeout_seconds').addCallback((result) => {
      for (const { type, options } of this.handlers.list())
        result.observe((options.timeout ?? 60_000) / 1_000, { type });
    });
    // the queue of a worker waits while Redis is away, and so would a scrape
    if (this.dispatcher === undefined) this.#watchQueue();
    else this.#watchWorker(this.dispatcher);
  }

  #watchQueue(): void {
    this.#meter.createObservableGauge('durable_jobs_queue_depth').addCallback(async (result) => {
      const counts = await this.queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active').catch(() => ({}));
      for (const [state, count] of Object.entries(counts)) result.observe(count, { state });
    });
    this.#meter.createObservableGauge('durable_jobs_workers').addCallback(async (result) => {
      const workers = await this.queue.getWorkersCount().catch(() => undefined);
      if (workers !== undefined) result.observe(workers);
    });
  }

  #watchWorker(dispatcher: JobDispatcher): void {
    const { worker } = dispatcher;
    // a counter that appears with its first count has no increase that an alert could see
    for (const { type } of this.handlers.list())
      for (const counter of [this.#completed, this.#dead]) counter.add(0, { type });
    worker.on('completed', (job) => {
      this.#completed.add(1, { type: job.name });
      this.#end(job, 'completed');
    });
    worker.on('failed', (job, error) => {
      if (job === undefined) return;
      if (error.message === CANCELLED_REASON) {
        this.#end(job, 'cancelled');
        return;
      }
      this.#failed.add(1, { type: job.name, retries: job.attemptsMade - 1 });
      if (job.finishedOn) this.#dead.add(1, { type: job.name });
      this.#end(job, 'failed');
    });
    this.#meter.createObservableGauge('durable_jobs_worker_utilisation').addCallback((result) => {
      result.observe(dispatcher.running / settings.worker.concurrency);
    });
  }

  #end(job: Job<StoredJob>, outcome: string): void {
    const seconds = (Date.now() - (job.processedOn ?? Date.now())) / 1_000;
    this.#duration.record(seconds, { type: job.name, outcome });
  }
}
