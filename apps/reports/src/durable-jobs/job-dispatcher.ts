import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type BackoffStrategy, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Redis } from 'ioredis';
import { AppRedis } from '../redis.js';
import { settings } from '../settings.js';
import { type FoundHandler, type JobContext, JobHandlers } from './job-handler.js';
import { ABORT_CHANNEL } from './job-scheduler.js';
import { CANCELLED_REASON } from './job-states.js';
import { cancellationKey, type JobAttempt, QUEUE, type StoredJob } from './job-store.js';

/** Thrown by `throwIfStopping()`. */
class StoppingError extends Error {}

/** For a `retryDelay` that is a list. */
const backoffStrategy: BackoffStrategy = (attemptsMade, _type, _error, job) =>
  [(job?.data as StoredJob).retryDelay].flat()[attemptsMade - 1] ?? 0;

/** Runs the matching handler of each job that BullMQ's worker claims. */
@Injectable()
@Processor(QUEUE, { ...settings.worker, autorun: false, settings: { backoffStrategy } })
export class JobDispatcher extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger(JobDispatcher.name);
  readonly #stop = new AbortController();
  readonly #subscription: Redis;
  #running = 0;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly redis: AppRedis,
  ) {
    super();
    this.#subscription = redis.duplicate();
    this.#subscription.on('error', () => undefined);
  }

  async onApplicationBootstrap(): Promise<void> {
    // BullMQ cancels in its own process only, so every worker receives every cancellation
    this.#subscription.on('message', (_channel, message) => {
      const { id, reason } = JSON.parse(message) as { id: string; reason: string };
      this.worker.cancelJob(id, reason);
    });
    await this.#subscription.subscribe(ABORT_CHANNEL);
    this.worker.run().catch((error: unknown) => {
      this.onError(error as Error);
    });
  }

  /** Handlers give their jobs back at their next step. Those that ignore it are waited for, until the process has reached its limit. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.worker.close();
    this.#subscription.disconnect();
  }

  /** How many jobs this worker runs. */
  get running(): number {
    return this.#running;
  }

  /** No defaults here: BullMQ passes a signal to functions that have three parameters, and counts those without a default. */
  async process(job: Job<StoredJob>, token?: string, cancelled?: AbortSignal): Promise<unknown> {
    const id = job.id ?? '';
    const attempt: JobAttempt = { worker: settings.worker.name, startedAt: new Date().toISOString() };
    const logEnd = (error?: string): Promise<number> =>
      job.log(JSON.stringify({ ...attempt, endedAt: new Date().toISOString(), error }));
    this.#running += 1;
    try {
      await job.log(JSON.stringify(attempt));
      if (await this.#isCancelled(id)) throw new UnrecoverableError(CANCELLED_REASON);
      const result = await this.#run(this.handlers.get(job.name), job, cancelled);
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
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (reason: unknown): void => {
      controller.abort(new Error(String(reason)));
    };
    // a handler that ignores its signal must not keep the job
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
    const timer = setTimeout(abort, timeout, `${id} timed out after ${String(timeout)} ms`);
    cancelled?.addEventListener('abort', () => {
      abort(cancelled.reason);
    });
    if (cancelled?.aborted) abort(cancelled.reason);
    const context: JobContext = {
      id,
      signal,
      progress: async (percent, message) => {
        await job.updateProgress({ percent, message, updatedAt: new Date().toISOString() });
        // the message of a cancellation is lost while the subscription is interrupted
        if (await this.#isCancelled(id)) this.worker.cancelJob(id, CANCELLED_REASON);
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

  async #isCancelled(id: string): Promise<boolean> {
    return (await this.redis.exists(cancellationKey(id))) === 1;
  }

  /** The worker was paused or cut off for longer than its lock, and another one runs the job. */
  @OnWorkerEvent('lockRenewalFailed')
  onLockLost(ids: readonly string[]): void {
    for (const id of ids) this.worker.cancelJob(id, 'the lock was lost');
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<StoredJob> | undefined, error: Error): void {
    this.#logger.warn(`${job?.id ?? 'a job'}: ${error.message}`);
  }

  @OnWorkerEvent('stalled')
  onStalled(id: string): void {
    this.#logger.warn(`${id}: its worker died, it will run again`);
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.#logger.error(error.message);
  }
}
