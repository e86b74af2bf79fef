import { randomUUID } from 'node:crypto';
import { InjectFlowProducer, InjectQueue } from '@nestjs/bullmq';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { ErrorCode, FlowProducer, type JobsOptions, Queue } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import { type JobEvents, type JobObserver, SingletonJobRegistry } from 'nestjs-singleton-job';
import { AppRedis, key } from '../redis.js';
import { settings } from '../settings.js';
import { JobHandlers, type JobHandlerOptions } from './job-handler.js';
import { after, CANCELLED_REASON } from './job-states.js';
import { cancellationKey, type JobInfo, JobStore, QUEUE, type StoredJob, toBullPriority } from './job-store.js';

export interface EnqueueOptions {
  /** Enqueuing the same id twice adds nothing. No `:`, and not a number. @default a random one */
  readonly id?: string;
  readonly priority?: number;
  readonly idempotencyKey?: string;
  /** A job that becomes due when this one has ended for the first time, however it ended. */
  readonly followedBy?: { readonly type: string; readonly payload: unknown; readonly id: string };
}

/** The channel on which every worker receives which run to abort. */
export const ABORT_CHANNEL = key('abort');

/** Adds, cancels and retries jobs. */
@Injectable()
export class JobScheduler {
  readonly #submitted = metrics.getMeter('durable-jobs').createCounter('durable_jobs_submitted');

  constructor(
    @InjectQueue(QUEUE) private readonly queue: Queue<StoredJob>,
    @InjectFlowProducer(QUEUE) private readonly flows: FlowProducer,
    private readonly handlers: JobHandlers,
    private readonly store: JobStore,
    private readonly redis: AppRedis,
  ) {}

  /** Runs a job as soon as a worker is free. Returns its id. When it returned, the job will run. When it rejects, call it again with the same id. */
  async enqueue(type: string, payload: unknown, options: EnqueueOptions = {}): Promise<string> {
    return this.#add(type, payload, this.handlers.get(type).options, options);
  }

  /** Runs a job at a time, or as soon as possible after it. */
  async schedule(type: string, payload: unknown, runAt: Date, options: EnqueueOptions = {}): Promise<string> {
    return this.#add(type, payload, this.handlers.get(type).options, options, runAt);
  }

  /** The same, with options other than those of the handler. */
  async scheduleRaw(type: string, payload: unknown, config: JobHandlerOptions, runAt: Date): Promise<string> {
    return this.#add(type, payload, config, {}, runAt);
  }

  async getStatus(id: string): Promise<JobInfo | null> {
    return this.store.find(id);
  }

  /** Removes a job that waits, or aborts its run on any worker. False if it has ended or is unknown. */
  async cancel(id: string): Promise<boolean> {
    const info = await this.store.find(id);
    const status = info && after(info.status, 'cancel');
    if (!info || !status) return false;
    // the record comes first: a worker that claims the job meanwhile, or takes it over from a killed one, reads it
    await this.store.recordCancellation({ ...info, status, completedAt: new Date().toISOString() });
    if (info.status !== 'Running' && (await this.queue.remove(id)) === 1) return true;
    await this.abort(id, CANCELLED_REASON);
    return true;
  }

  /** Ends the run of a job on any worker. Unless it was cancelled, the job is tried again while retries are left. */
  async abort(id: string, reason: string): Promise<void> {
    await this.redis.publish(ABORT_CHANNEL, JSON.stringify({ id, reason }));
  }

  /** Tries a failed job now, or a dead one anew. For people: nothing else leads out of `DeadLettered`. False if another request was first. */
  async retry(id: string): Promise<boolean> {
    const info = await this.store.find(id);
    const job = await this.queue.getJob(id);
    if (!info || !job || after(info.status, 'retry') === undefined) return false;
    await this.redis.del(cancellationKey(id));
    try {
      if (info.status === 'Failed') await job.promote();
      else await job.retry('failed', { resetAttemptsMade: true });
      return true;
    } catch (error) {
      const { code } = error as { code?: ErrorCode };
      if (code === ErrorCode.JobNotInState || code === ErrorCode.JobNotExist) return false;
      throw error;
    }
  }

  async #add(
    type: string,
    payload: unknown,
    config: JobHandlerOptions,
    { id = `${type}-${randomUUID()}`, priority, idempotencyKey, followedBy }: EnqueueOptions,
    runAt?: Date,
  ): Promise<string> {
    const data = dataOf(payload, config, idempotencyKey);
    const timestamp = Date.now();
    const delay = runAt && Math.max(0, runAt.getTime() - timestamp);
    const opts: JobsOptions = { ...optionsOf(config, priority), jobId: id, timestamp, ...(delay && { delay }) };
    if (config.deduplicateBy) opts.deduplication = { id: `${type}-${config.deduplicateBy(payload as never)}` };
    this.#submitted.add(1, { type });
    if (followedBy === undefined) return (await this.queue.add(type, data, opts)).id ?? id;

    // BullMQ's parents wait for their children: the job that follows is the parent.
    // A child that is removed when it fails does not become one again with its retry: the parent runs once
    const next = this.handlers.get(followedBy.type).options;
    await this.flows.add({
      name: followedBy.type,
      queueName: QUEUE,
      data: dataOf(followedBy.payload, next),
      opts: { ...optionsOf(next), jobId: followedBy.id },
      children: [{ name: type, queueName: QUEUE, data, opts: { ...opts, removeDependencyOnFailure: true } }],
    });
    return id;
  }
}

function dataOf(payload: unknown, config: JobHandlerOptions, idempotencyKey?: string): StoredJob {
  const { timeout = 60_000, expected = timeout, retryDelay = 1_000, schedule } = config;
  return {
    payload,
    timeout,
    expected,
    retryDelay,
    ...(schedule && { schedule }),
    ...(idempotencyKey && { idempotencyKey }),
  };
}

function optionsOf(
  { retries = 0, retryDelay = 1_000, ...config }: JobHandlerOptions,
  priority = config.priority ?? 0,
): JobsOptions {
  return {
    attempts: retries + 1,
    backoff: typeof retryDelay === 'number' ? { type: 'exponential', delay: retryDelay } : { type: 'list' },
    priority: toBullPriority(priority),
    removeOnComplete: { age: settings.keepFinishedMs / 1_000 },
    removeOnFail: { age: settings.keepDeadMs / 1_000 },
  };
}

/** The newest occurrence of a cron expression before a time. */
export function occurrenceBefore(cron: string, at: Date): Date {
  return CronExpressionParser.parse(cron, { currentDate: at, tz: settings.timeZone }).prev().toDate();
}

/** Which job a singleton job enqueues. */
export interface JobSchedule {
  readonly type: string;
  readonly cron: string;
  payload(at: Date): unknown;
}

/**
 * Enqueues the jobs of cron schedules, each occurrence once: the id is made of it, so a repeated or a late tick adds nothing. Registers a
 * singleton job for each handler with a `schedule`. Other singleton jobs `add()` themselves, and call `tick()`.
 */
@Injectable()
export class JobSchedules implements OnModuleInit, JobObserver {
  readonly #schedules = new Map<string, JobSchedule>();

  constructor(
    private readonly handlers: JobHandlers,
    private readonly scheduler: JobScheduler,
    private readonly registry: SingletonJobRegistry,
    private readonly redis: AppRedis,
  ) {}

  onModuleInit(): void {
    for (const { type, options } of this.handlers.list()) {
      if (options.schedule === undefined) continue;
      const name = `enqueue-${type}`;
      this.add(name, { type, cron: options.schedule, payload: () => ({}) });
      this.registry.register({
        name,
        schedule: { cron: options.schedule },
        run: ({ scheduledAt }) => this.tick(name, scheduledAt),
      });
    }
  }

  /** `name`: of the singleton job. */
  add(name: string, schedule: JobSchedule): void {
    this.#schedules.set(name, schedule);
  }

  async tick(name: string, scheduledAt: Date): Promise<void> {
    const schedule = this.#schedules.get(name);
    if (schedule === undefined) throw new Error(`${name} has no schedule of jobs`);
    // a scheduler that was killed after it had claimed the occurrence before this one has not enqueued it
    await this.#enqueue(schedule, occurrenceBefore(schedule.cron, scheduledAt));
    await this.#enqueue(schedule, scheduledAt);
  }

  /** The new leader enqueues the newest occurrence, so that it exists after a fresh deployment. */
  async leadershipGained({ job }: JobEvents['leadershipGained']): Promise<void> {
    const schedule = this.#schedules.get(job);
    if (schedule === undefined) return;
    // by the clock of Redis, as ticks are: a replica whose clock is fast must not enqueue an occurrence that is not due
    const [seconds] = await this.redis.time();
    await this.#enqueue(schedule, occurrenceBefore(schedule.cron, new Date(Number(seconds) * 1_000)));
  }

  async #enqueue({ type, payload }: JobSchedule, at: Date): Promise<void> {
    await this.scheduler.enqueue(type, payload(at), { id: `${type}-${String(at.getTime())}` });
  }
}
