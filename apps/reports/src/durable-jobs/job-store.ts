import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { type Job, type JobType, Queue } from 'bullmq';
import { AppRedis, key } from '../redis.js';
import { settings } from '../settings.js';
import { type JobStatus, statusOf } from './job-states.js';

export const QUEUE = 'durable-jobs';

/** What BullMQ keeps of a job that is not an option of its own. */
export interface StoredJob {
  readonly payload: unknown;
  readonly timeout: number;
  readonly retryDelay: number | readonly number[];
  readonly schedule?: string;
  readonly idempotencyKey?: string;
}

export interface Progress {
  readonly percent: number;
  readonly message: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** Times are ISO 8601, durations are milliseconds. */
export interface JobInfo {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly payload: unknown;
  readonly schedule: string | null;
  readonly attempts: number;
  readonly maxRetries: number;
  readonly retryDelay: number | readonly number[];
  readonly timeout: number;
  /** Higher first. */
  readonly priority: number;
  /** Of the latest failure. */
  readonly error: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly nextRunAt: string | null;
  readonly idempotencyKey: string | null;
  readonly progress: Progress | null;
}

/** One attempt. One without an end is running, or its worker died. */
export interface JobAttempt {
  readonly worker: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly error?: string;
}

/** BullMQ starts 0 first, then 1, and this one last. Ours starts the highest first. */
const LOWEST = 2 ** 21 - 1;
export const toBullPriority = (priority: number): number => LOWEST - priority;

const STATES: Readonly<Record<JobStatus, readonly JobType[]>> = {
  Pending: ['waiting', 'prioritized', 'delayed', 'waiting-children'],
  Running: ['active'],
  Completed: ['completed'],
  Failed: ['delayed'],
  DeadLettered: ['failed'],
  Cancelled: ['failed'],
};

/** Reads jobs. */
@Injectable()
export class JobStore {
  constructor(
    @InjectQueue(QUEUE) private readonly queue: Queue<StoredJob>,
    private readonly redis: AppRedis,
  ) {}

  /** The job as BullMQ knows it, or else the record of its cancellation. */
  async find(id: string): Promise<JobInfo | null> {
    // the state first: all that a state brings with it is in the job that is read later
    const state = await this.queue.getJobState(id);
    const job = state === 'unknown' ? undefined : await this.queue.getJob(id);
    if (job !== undefined) return toInfo(job, state);
    const record = await this.redis.get(cancellationKey(id));
    return record === null ? null : (JSON.parse(record) as JobInfo);
  }

  async getJobs(status?: JobStatus, offset = 0, limit = 50): Promise<JobInfo[]> {
    const states = status === undefined ? new Set(Object.values(STATES).flat()) : STATES[status];
    const found = new Map<string, JobInfo>();
    // pages are cut here and not in Redis: retries share a list with scheduled jobs, and cancelled ones with dead ones
    for (const state of states) {
      for (const job of await this.queue.getJobs(state)) {
        const info = toInfo(job, state);
        if (status === undefined || info.status === status) found.set(info.id, info);
      }
    }
    if (status === undefined || status === 'Cancelled') {
      for (const id of await this.redis.zrevrange(CANCELLED, 0, -1)) {
        const info = await this.find(id);
        if (info?.status === 'Cancelled') found.set(id, info);
      }
    }
    return [...found.values()].slice(offset, offset + limit);
  }

  /** Keeps what BullMQ forgets when a job is cancelled before it starts. */
  async recordCancellation(info: JobInfo): Promise<void> {
    const now = Date.now();
    const recording = this.redis
      .multi()
      .set(cancellationKey(info.id), JSON.stringify(info), 'PX', settings.keepFinishedMs);
    recording.zadd(CANCELLED, now, info.id).zremrangebyscore(CANCELLED, 0, now - settings.keepFinishedMs);
    await recording.pexpire(CANCELLED, settings.keepFinishedMs).exec();
  }

  async getDeadLetter(offset?: number, limit?: number): Promise<JobInfo[]> {
    return this.getJobs('DeadLettered', offset, limit);
  }

  /** The attempts, oldest first. */
  async getHistory(id: string): Promise<JobAttempt[]> {
    const { logs } = await this.queue.getJobLogs(id);
    const attempts = new Map<string, JobAttempt>();
    for (const line of logs) {
      const attempt = JSON.parse(line) as JobAttempt;
      attempts.set(attempt.startedAt, attempt);
    }
    return [...attempts.values()];
  }
}

/** Ids of the jobs with a record of their cancellation, by time. */
const CANCELLED = key('cancelled');

/** The key of the record of a cancellation: all that is left of a job that is removed. If it is not removed, its worker reads it. */
export function cancellationKey(id: string): string {
  return key('cancelled', id);
}

function toInfo(job: Job<StoredJob>, state: string): JobInfo {
  const { payload, timeout, retryDelay, schedule = null, idempotencyKey = null } = job.data;
  const status = statusOf(state, job);
  const progress = typeof job.progress === 'object' ? (job.progress as Progress) : null;
  return {
    id: job.id ?? '',
    type: job.name,
    status,
    payload,
    schedule,
    attempts: job.attemptsStarted,
    maxRetries: (job.opts.attempts ?? 1) - 1,
    retryDelay,
    timeout,
    priority: LOWEST - (job.opts.priority ?? LOWEST),
    error: job.failedReason ?? null,
    createdAt: iso(job.timestamp) ?? '',
    startedAt: iso(job.processedOn),
    completedAt: iso(job.finishedOn),
    nextRunAt:
      state === 'delayed' ? iso((job.attemptsMade > 0 ? job.processedOn : job.timestamp) ?? 0, job.delay) : null,
    idempotencyKey,
    progress,
  };
}

function iso(ms: number | undefined | null, plusMs = 0): string | null {
  return ms === undefined || ms === null ? null : new Date(ms + plusMs).toISOString();
}
