import { Inject, Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { ErrorCode, FlowProducer, Job, type JobsOptions, Queue } from 'bullmq';
import type { JobRun } from 'nestjs-singleton-job';
import { randomUUID } from 'node:crypto';
import {
  DURABLE_JOBS_OPTIONS,
  type DurableJobsOptions,
  type JobHandlerOptions,
  JobsRedis,
  KEEP_COMPLETED_MS,
  KEEP_DEAD_MS,
  QUEUE,
} from './durable-jobs.options.js';
import { type CompleteOptions, completeOptions, JobHandlers } from './job-handler.js';
import { JobStore, type StoredJob, toBullPriority } from './job-store.js';

export interface EnqueueOptions {
  /** Enqueuing the same id twice adds nothing. No `:`, and not a number. @default a random one */
  readonly id?: string;
  readonly priority?: number;
  readonly idempotencyKey?: string | undefined;
  /**
   * A job that becomes due when this one has ended for the first time, however it ended. Not together with
   * `deduplicateBy`.
   */
  readonly followedBy?: { readonly type: string; readonly payload: unknown; readonly id: string } | undefined;
}

/** The channel on which every worker receives the ids of cancelled jobs. */
export const CANCEL_CHANNEL = 'cancel';

/** Adds, cancels and retries jobs. */
@Injectable()
export class DurableJobs {
  readonly #submitted = metrics.getMeter('durable-jobs').createCounter('durable_jobs_submitted');

  constructor(
    private readonly queue: Queue<StoredJob>,
    private readonly flows: FlowProducer,
    private readonly handlers: JobHandlers,
    private readonly store: JobStore,
    private readonly redis: JobsRedis,
    @Inject(DURABLE_JOBS_OPTIONS) private readonly options: DurableJobsOptions,
  ) {}

  /**
   * Runs a job as soon as a worker is free. Returns its id. When it returned, the job will run. When it rejects, call
   * it again with the same id.
   */
  async enqueue(type: string, payload: unknown, options: EnqueueOptions = {}): Promise<string> {
    return this.#add(type, payload, this.handlers.get(type).options, options);
  }

  /** Runs a job at a time, or as soon as possible after it. */
  async schedule(type: string, payload: unknown, runAt: Date, options: EnqueueOptions = {}): Promise<string> {
    return this.#add(type, payload, this.handlers.get(type).options, options, runAt);
  }

  /** The same, with options other than those of the handler. */
  async scheduleRaw(type: string, payload: unknown, config: JobHandlerOptions, runAt: Date): Promise<string> {
    return this.#add(type, payload, completeOptions(`a job of type ${type}`, config), {}, runAt);
  }

  /**
   * Enqueues the fire time of a run of a cron job of `nestjs-singleton-job`, and the one before it, each once. The id
   * of a job is `<type>-<ms since the epoch>`. A run that was triggered adds only the one before it, if that is
   * missing.
   * @param payloadOf `since`: the fire time that was enqueued before this one. Null: it is the first.
   */
  async enqueueFireTimes(
    run: JobRun,
    type: string,
    payloadOf: (at: Date, since: Date | null) => unknown,
  ): Promise<void> {
    const key = this.redis.key('fire-times');
    const newest = Number(await this.redis.hget(key, run.job));
    const [seconds] = await this.redis.time();
    let since = newest > 0 ? new Date(newest) : null;
    for (const at of [run.previousScheduledAt, run.cause === 'trigger' ? null : run.scheduledAt]) {
      // a trigger goes by the clock of its replica: if that is fast, the fire time comes later
      const isDue = at !== null && at.getTime() <= (Number(seconds) + 1) * 1_000;
      if (!isDue || at.getTime() <= newest) continue;
      const id = `${type}-${String(at.getTime())}`;
      const { data, opts } = this.#toBullJob(payloadOf(at, since), this.handlers.get(type).options, { id });
      // in one step: a job whose fire time is not remembered would come again, and one that is remembered only would be
      // lost
      const transaction = (await this.queue.backend.client).multi();
      await new Job(this.queue, type, data, opts, id).addJob(transaction);
      transaction.hset(key, { [run.job]: at.getTime() });
      run.assertLeader();
      for (const [error] of (await transaction.exec()) ?? []) if (error !== null) throw error;
      this.#submitted.add(1, { type });
      since = at;
    }
  }

  /**
   * Ends the run of a job on any worker, or keeps it from running. Jobs that it follows, or that follow it, go on.
   * False if it has ended or is unknown.
   */
  async cancel(id: string): Promise<boolean> {
    const info = await this.store.getStatus(id);
    if (info === null || !['Pending', 'Running', 'Failed'].includes(info.status)) return false;
    // the record first: a worker that claims the job meanwhile, or takes it over from a killed one, reads it
    await this.store.recordCancellation(info);
    await this.redis.publish(this.redis.key(CANCEL_CHANNEL), id);
    const job = await this.queue.getJob(id);
    await job?.removeDeduplicationKey();
    // it need not wait for its time: a worker passes over it now
    if (info.nextRunAt !== null) await job?.promote().catch(throwUnlessMoved);
    return true;
  }

  /**
   * Tries a failed job now, or a dead one anew. For people: nothing else leads out of `DeadLettered`. False if another
   * request was first.
   */
  async retry(id: string): Promise<boolean> {
    const info = await this.store.getStatus(id);
    const job = await this.queue.getJob(id);
    if (job === undefined || (info?.status !== 'Failed' && info?.status !== 'DeadLettered')) return false;
    // each is one script of BullMQ, which looks at the state again
    const retrying = info.status === 'Failed' ? job.promote() : job.retry('failed', { resetAttemptsMade: true });
    return retrying.then(
      () => true,
      (error: unknown) => throwUnlessMoved(error),
    );
  }

  async #add(
    type: string,
    payload: unknown,
    config: CompleteOptions,
    { id = `${type}-${randomUUID()}`, followedBy, ...options }: EnqueueOptions,
    runAt?: Date,
  ): Promise<string> {
    const { data, opts } = this.#toBullJob(payload, config, { id, ...options }, runAt);
    if (config.deduplicateBy) opts.deduplication = { id: `${type}-${config.deduplicateBy(payload as never)}` };
    this.#submitted.add(1, { type });
    if (followedBy === undefined) return (await this.queue.add(type, data, opts)).id ?? id;
    if (opts.deduplication) throw new Error(`${type} has deduplicateBy: no job can follow it, as it may not be added`);

    // BullMQ's parents wait for their children: the job that follows is the parent.
    // A child that is removed when it fails does not become one again with its retry: the parent runs once
    await this.flows.add({
      name: followedBy.type,
      queueName: QUEUE,
      ...this.#toBullJob(followedBy.payload, this.handlers.get(followedBy.type).options, { id: followedBy.id }),
      children: [{ name: type, queueName: QUEUE, data, opts: { ...opts, removeDependencyOnFailure: true } }],
    });
    return id;
  }

  #toBullJob(
    payload: unknown,
    { retries, retryDelay, timeout, priority: usual }: CompleteOptions,
    { id, priority = usual, idempotencyKey }: EnqueueOptions & { readonly id: string },
    runAt?: Date,
  ): { readonly data: StoredJob; readonly opts: JobsOptions } {
    const { keepCompleted = KEEP_COMPLETED_MS, keepDead = KEEP_DEAD_MS } = this.options;
    const timestamp = Date.now();
    return {
      data: { payload, timeout, retryDelay, idempotencyKey },
      opts: {
        jobId: id,
        timestamp,
        delay: runAt === undefined ? 0 : Math.max(0, runAt.getTime() - timestamp),
        attempts: retries + 1,
        backoff: typeof retryDelay === 'number' ? { type: 'exponential', delay: retryDelay } : { type: 'list' },
        priority: toBullPriority(priority),
        removeOnComplete: { age: keepCompleted / 1_000 },
        removeOnFail: { age: keepDead / 1_000 },
      },
    };
  }
}

/** False: the job is in another state by now. */
function throwUnlessMoved(error: unknown): false {
  const { code } = error as { code?: ErrorCode };
  if (code === ErrorCode.JobNotInState || code === ErrorCode.JobNotExist) return false;
  throw error;
}
