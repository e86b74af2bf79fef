import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { type BackoffStrategy, DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { once } from 'node:events';
import { CANCEL_CHANNEL } from './durable-jobs.js';
import { DURABLE_JOBS_OPTIONS, type DurableJobsOptions, JobsRedis, QUEUE } from './durable-jobs.options.js';
import { type FoundHandler, type JobContext, JobHandlers } from './job-handler.js';
import { CANCELLED_REASON, type JobAttempt, JobStore, type StoredJob } from './job-store.js';

/** Thrown by `throwIfStopping()`. */
class StoppingError extends Error {}

/** The message begins with `timed out`. */
export class JobTimeoutError extends Error {}

/** For a `retryDelay` that is a list. */
const backoffStrategy: BackoffStrategy = (attemptsMade, _type, _error, job) =>
  [(job?.data as StoredJob).retryDelay].flat()[attemptsMade - 1] ?? 0;

/** Claims jobs with a worker of BullMQ, and runs the handler of each. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Of BullMQ. */
  readonly worker: Worker<StoredJob>;
  readonly #name: string;
  readonly #logger = new Logger(JobWorker.name);
  readonly #stop = new AbortController();
  readonly #subscription: Redis;
  #running = 0;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly store: JobStore,
    private readonly redis: JobsRedis,
    @Inject(DURABLE_JOBS_OPTIONS) private readonly options: DurableJobsOptions,
  ) {
    const { telemetry, worker } = options;
    // BullMQ passes a signal to functions that have three parameters
    this.worker = new Worker(QUEUE, (job, token, cancelled) => this.#process(job, token, cancelled), {
      connection: redis,
      prefix: redis.prefix,
      telemetry,
      autorun: false,
      settings: { backoffStrategy },
      // 1 by default: a job whose worker is killed twice would fail
      maxStalledCount: 10,
      ...worker,
    });
    this.#name = worker?.name ?? String(process.pid);
    this.#subscription = redis.duplicate();
    this.#subscription.on('error', () => undefined);
  }

  async onApplicationBootstrap(): Promise<void> {
    this.worker
      .on('failed', (job, error) => {
        this.#logger.warn(`${job?.id ?? 'a job'}: ${error.message}`);
      })
      .on('stalled', (id) => {
        this.#logger.warn(`${id}: its worker died, it will run again`);
      })
      // the worker was paused or cut off for longer than its lock, and another one runs the job
      .on('lockRenewalFailed', (ids) => {
        for (const id of ids) this.worker.cancelJob(id, 'the lock was lost');
      })
      .on('error', (error) => {
        this.#logger.error(error.message);
      });
    // BullMQ cancels in its own process only, so every worker receives every cancellation
    this.#subscription.on('message', (_channel, id) => {
      this.worker.cancelJob(id, CANCELLED_REASON);
    });
    await this.#subscription.subscribe(this.redis.key(CANCEL_CHANNEL));
    this.worker.run().catch((error: unknown) => {
      this.#logger.error(String(error));
    });
  }

  /**
   * Handlers give their jobs back at their next step. Those that ignore it are waited for, until the process has
   * reached its limit.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.worker.close();
    this.#subscription.disconnect();
  }

  /** How many jobs this worker runs. */
  get running(): number {
    return this.#running;
  }

  async #process(job: Job<StoredJob>, token?: string, cancelled?: AbortSignal): Promise<unknown> {
    const id = job.id ?? '';
    const handler = this.handlers.find(job.name);
    if (handler === undefined) {
      const { unknownTypeDelay = 10_000 } = this.options;
      this.#logger.warn(
        `${id}: no @JobHandler('${job.name}') here. It is offered again in ${String(unknownTypeDelay)} ms.`,
      );
      await job.moveToDelayed(Date.now() + unknownTypeDelay, token);
      throw new DelayedError();
    }
    const attempt: JobAttempt = { worker: this.#name, startedAt: new Date().toISOString() };
    const logEnd = (error?: string): Promise<number> =>
      job.log(JSON.stringify({ ...attempt, endedAt: new Date().toISOString(), error }));
    this.#running += 1;
    try {
      await job.log(JSON.stringify(attempt));
      if (await this.store.isCancelled(id)) throw new UnrecoverableError(CANCELLED_REASON);
      const result = await this.#run(handler, job, cancelled);
      await logEnd();
      return result;
    } catch (thrown) {
      if (thrown instanceof StoppingError) {
        await logEnd('given back: the worker stops');
        await job.moveToWait(token);
        throw new WaitingError();
      }
      const error = cancelled?.reason === CANCELLED_REASON ? new UnrecoverableError(CANCELLED_REASON) : thrown;
      await logEnd(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  async #run(handler: FoundHandler, job: Job<StoredJob>, cancelled?: AbortSignal): Promise<unknown> {
    const { payload, timeout } = job.data;
    const id = job.id ?? '';
    const timedOut = new AbortController();
    const timer = setTimeout(() => {
      timedOut.abort(new JobTimeoutError(`timed out after ${String(timeout)} ms`));
    }, timeout);
    const signal = AbortSignal.any(cancelled ? [timedOut.signal, cancelled] : [timedOut.signal]);
    // a handler that ignores its signal must not keep the job
    const aborted = once(signal, 'abort').then(() => {
      throw signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
    });
    const context: JobContext = {
      id,
      signal,
      progress: async (percent, message) => {
        await job.updateProgress({ percent, message, updatedAt: new Date().toISOString() });
        // the message of a cancellation is lost while the subscription is interrupted
        if (await this.store.isCancelled(id)) this.worker.cancelJob(id, CANCELLED_REASON);
      },
      updatePayload: (changed) => job.updateData({ ...job.data, payload: changed }),
      throwIfStopping: () => {
        if (this.#stop.signal.aborted) throw new StoppingError();
      },
    };
    try {
      return await Promise.race([aborted, handler.run(payload, context)]);
    } finally {
      clearTimeout(timer);
    }
  }
}
