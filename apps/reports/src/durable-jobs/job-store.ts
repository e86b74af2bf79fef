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
  readonly expected: number;
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
  /** How long a run usually takes. */
  readonly expected: number;
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

const STATES = {
  Pending: ['waiting', 'prioritized', 'delayed', 'waiting-children'],
  Running: ['active'],
  Completed: ['completed'],
  Failed: ['delayed'],
  DeadLettered: ['failed'],
  Cancelled: ['failed'],
} as const satisfies Readonly<Record<JobStatus, readonly JobType[]>>;

/** How many jobs are read at a time. */
const CHUNK = 100;

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
    if (job !== undefined) return this.#toInfo(job, state);
    const record = await this.redis.get(cancellationKey(id));
    return record === null ? null : (JSON.parse(record) as JobInfo);
  }

  /** The newest of each state of BullMQ first. */
  async getJobs(status?: JobStatus, offset = 0, limit = 50): Promise<JobInfo[]> {
    if (status === 'Running' || status === 'Completed') {
      const [state] = STATES[status];
      return (await this.#read(state, offset, offset + limit - 1)).slice(0, limit);
    }
    // the others share lists, scheduled jobs with retries and cancelled ones with dead ones: their pages are cut here
    const lists = [...(status === undefined ? new Set(Object.values(STATES).flat()) : STATES[status])].map(
      (state) => (start: number, end: number) => this.#read(state, start, end),
    );
    if (status === undefined || status === 'Cancelled') lists.push((start, end) => this.#readCancelled(start, end));
    const found = new Map<string, JobInfo>();
    for (const read of lists) {
      for (let start = 0; found.size < offset + limit; start += CHUNK) {
        const infos = await read(start, start + CHUNK - 1);
        if (infos.length === 0) break;
        for (const info of infos) if (status === undefined || info.status === status) found.set(info.id, info);
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

  async #read(state: JobType, start: number, end: number): Promise<JobInfo[]> {
    const jobs = await this.queue.getJobs(state, start, end);
    return Promise.all(jobs.map((job) => this.#toInfo(job, state)));
  }

  async #readCancelled(start: number, end: number): Promise<JobInfo[]> {
    const ids = await this.redis.zrevrange(CANCELLED, start, end);
    const infos = await Promise.all(ids.map((id) => this.find(id)));
    return infos.filter((info) => info !== null);
  }

  async #toInfo(job: Job<StoredJob>, state: string): Promise<JobInfo> {
    // BullMQ orders delayed jobs by time, and numbers those of one millisecond in the last 12 bits
    const score = state === 'delayed' ? await this.redis.zscore(this.queue.toKey('delayed'), job.id ?? '') : null;
    return toInfo(job, state, score === null ? null : Math.floor(Number(score) / 2 ** 12));
  }
}

/** Ids of the jobs with a record of their cancellation, by time. */
const CANCELLED = key('cancelled');

/** The key of the record of a cancellation: all that is left of a job that is removed. If it is not removed, its worker reads it. */
export function cancellationKey(id: string): string {
  return key('cancelled', id);
}

function toInfo(job: Job<StoredJob>, state: string, nextRunAt: number | null): JobInfo {
  const { payload, timeout, expected, retryDelay, schedule = null, idempotencyKey = null } = job.data;
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
    expected,
    priority: LOWEST - (job.opts.priority ?? LOWEST),
    error: job.failedReason ?? null,
    createdAt: iso(job.timestamp) ?? '',
    startedAt: iso(job.processedOn),
    completedAt: iso(job.finishedOn),
    nextRunAt: iso(nextRunAt),
    idempotencyKey,
    progress,
  };
}

function iso(ms: number | undefined | null): string | null {
  return ms === undefined || ms === null ? null : new Date(ms).toISOString();
}
