import { Inject, Injectable } from '@nestjs/common';
import { type Job, type JobType, Queue } from 'bullmq';
import { DURABLE_JOBS_OPTIONS, type DurableJobsOptions, JobsRedis, KEEP_DEAD_MS } from './durable-jobs.options.js';

/** `Failed` will be retried, `DeadLettered` will not unless a person calls `retry()`. */
export type DurableJobStatus = 'Pending' | 'Running' | 'Completed' | 'Failed' | 'DeadLettered' | 'Cancelled';

const WAITING = ['waiting', 'prioritized', 'delayed', 'waiting-children'] as const;

/**
 * The states of BullMQ in which a job has a status. One that is cancelled while it waits stays there until a worker
 * passes over it.
 */
const STATES = {
  Pending: WAITING,
  Running: ['active'],
  Completed: ['completed'],
  Failed: ['delayed'],
  DeadLettered: ['failed'],
  Cancelled: ['failed', ...WAITING, 'active'],
} as const satisfies Readonly<Record<DurableJobStatus, readonly JobType[]>>;

export const STATUSES = Object.keys(STATES) as DurableJobStatus[];

/** Whether a job of this status does nothing more by itself. */
export function hasEnded(status: DurableJobStatus): boolean {
  return ['Completed', 'DeadLettered', 'Cancelled'].includes(status);
}

/** The message of the error that ends a cancelled run. */
export const CANCELLED_REASON = 'cancelled';

/** What BullMQ keeps of a job that is not an option of its own. */
export interface StoredJob {
  readonly payload: unknown;
  readonly timeout: number;
  readonly retryDelay: number | readonly number[];
  readonly idempotencyKey?: string | undefined;
}

/** Times are ISO 8601, durations are milliseconds. */
export interface JobInfo {
  readonly id: string;
  readonly type: string;
  readonly status: DurableJobStatus;
  readonly payload: unknown;
  readonly attempts: number;
  readonly maxRetries: number;
  readonly retryDelay: number | readonly number[];
  readonly timeout: number;
  /** Higher first. */
  readonly priority: number;
  /**
   * Of the latest failure, also if a later attempt succeeded: the text of the exception. It may name servers, so users
   * do not see it.
   */
  readonly error: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly nextRunAt: string | null;
  readonly idempotencyKey: string | null;
  readonly progress: { readonly percent: number; readonly message: string; readonly updatedAt: string } | null;
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

/** How many jobs are read at a time. */
const CHUNK = 100;

/** Reads jobs. */
@Injectable()
export class JobStore {
  constructor(
    private readonly queue: Queue<StoredJob>,
    private readonly redis: JobsRedis,
    @Inject(DURABLE_JOBS_OPTIONS) private readonly options: DurableJobsOptions,
  ) {}

  /** Null: the job is unknown, or kept no longer. */
  async getStatus(id: string): Promise<JobInfo | null> {
    // the state first: all that a state brings with it is in the job that is read later
    const state = await this.queue.getJobState(id);
    const job = state === 'unknown' ? undefined : await this.queue.getJob(id);
    return job === undefined ? null : this.#toInfo(job, state);
  }

  /** The newest of each state of BullMQ first. */
  async getJobs(status: DurableJobStatus, offset = 0, limit = 50): Promise<JobInfo[]> {
    // statuses share lists, scheduled jobs with retries and cancelled ones with dead ones: pages are cut here
    const found: JobInfo[] = [];
    for (const state of STATES[status]) {
      for (let start = 0; found.length < offset + limit; start += CHUNK) {
        const jobs = await this.queue.getJobs(state, start, start + CHUNK - 1);
        if (jobs.length === 0) break;
        const infos = await Promise.all(jobs.map((job) => this.#toInfo(job, state)));
        found.push(...infos.filter((info) => info.status === status));
      }
    }
    return found.slice(offset, offset + limit);
  }

  /** The attempts, oldest first. */
  async getHistory(id: string): Promise<JobAttempt[]> {
    const { logs } = await this.queue.getJobLogs(id);
    const attempts = logs.map((line) => JSON.parse(line) as JobAttempt);
    // the end of an attempt is another line with the same start
    return [...new Map(attempts.map((attempt) => [attempt.startedAt, attempt])).values()];
  }

  async isCancelled(id: string): Promise<boolean> {
    return (await this.redis.get(this.#cancellation(id))) !== null;
  }

  /**
   * BullMQ has no cancelled state: the record has the status that the job had, for longer than any job is kept after
   * its end.
   */
  async recordCancellation({ id, status }: JobInfo): Promise<void> {
    await this.redis.set(this.#cancellation(id), status, 'PX', 2 * (this.options.keepDead ?? KEEP_DEAD_MS));
  }

  #cancellation(id: string): string {
    return this.redis.key('cancelled', id);
  }

  async #toInfo(job: Job<StoredJob>, state: string): Promise<JobInfo> {
    const { id = '', attemptsMade, opts, progress } = job;
    const { payload, timeout, retryDelay, idempotencyKey = null } = job.data;
    // BullMQ orders delayed jobs by time, and numbers those of one millisecond in the last 12 bits
    const score = state === 'delayed' ? await this.redis.zscore(this.queue.toKey('delayed'), id) : null;
    return {
      id,
      type: job.name,
      status: statusOf(state, await this.redis.get(this.#cancellation(id)), attemptsMade),
      payload,
      attempts: job.attemptsStarted,
      maxRetries: (opts.attempts ?? 1) - 1,
      retryDelay,
      timeout,
      priority: LOWEST - (opts.priority ?? LOWEST),
      error: job.failedReason || null,
      createdAt: new Date(job.timestamp).toISOString(),
      startedAt: iso(job.processedOn),
      completedAt: iso(job.finishedOn),
      nextRunAt: iso(score === null ? undefined : Math.floor(Number(score) / 2 ** 12)),
      idempotencyKey,
      progress: typeof progress === 'object' ? (progress as JobInfo['progress']) : null,
    };
  }
}

/**
 * A cancellation wins over everything but a completion. A run goes on until its worker has ended it. A job that was
 * cancelled while it waited is active for a moment, when its worker passes over it.
 */
function statusOf(state: string, cancelledAs: string | null, attemptsMade: number): DurableJobStatus {
  if (state === 'completed') return 'Completed';
  if (cancelledAs !== null && (state !== 'active' || cancelledAs !== 'Running')) return 'Cancelled';
  if (state === 'active') return 'Running';
  if (state === 'failed') return 'DeadLettered';
  return state === 'delayed' && attemptsMade > 0 ? 'Failed' : 'Pending';
}

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
