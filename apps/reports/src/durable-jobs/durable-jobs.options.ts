import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Telemetry, WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { once } from 'node:events';

export interface JobHandlerOptions {
  /** How often a job is tried again after it failed. @default 0 */
  readonly retries?: number;
  /**
   * Milliseconds before the first retry; each later one waits twice as long. A list has one entry for each retry.
   * @default 1000
   */
  readonly retryDelay?: number | readonly number[];
  /** Milliseconds after which a run fails. @default 60000 */
  readonly timeout?: number;
  /** 0 to 1000. Jobs of a higher priority start first. @default 0 */
  readonly priority?: number;
  /** While a job with the same answer has not ended, another one is not enqueued. */
  readonly deduplicateBy?: (payload: never) => string;
}

export interface DurableJobsOptions {
  /** URL of Redis. */
  readonly connection: string;
  /** Milliseconds after which a process that runs no jobs gives up waiting for an answer of Redis. @default 2000 */
  readonly redisTimeout?: number;
  /** First part of every key. Applications that share a Redis need different ones. @default 'durable-jobs' */
  readonly prefix?: string;
  /** Of BullMQ's worker. */
  readonly worker?: Pick<
    WorkerOptions,
    'name' | 'concurrency' | 'lockDuration' | 'stalledInterval' | 'maxStalledCount'
  >;
  /** Options that replace those of decorators, by type. */
  readonly overrides?: Readonly<Record<string, JobHandlerOptions>>;
  /** Milliseconds for which completed jobs are kept. @default 2 days */
  readonly keepCompleted?: number;
  /** Milliseconds for which dead jobs wait for a person, and cancelled ones are known. @default 30 days */
  readonly keepDead?: number;
  /** Milliseconds after which a job of a type that its worker does not know is offered again. @default 10000 */
  readonly unknownTypeDelay?: number;
  /** Spans and metrics of BullMQ, for example a `BullMQOtel` of `bullmq-otel`. */
  readonly telemetry?: Telemetry;
}

export const DURABLE_JOBS_OPTIONS = Symbol('options of durable jobs');

export const QUEUE = 'durable-jobs';
export const KEEP_COMPLETED_MS = 2 * 86_400_000;
export const KEEP_DEAD_MS = 30 * 86_400_000;

/**
 * The one connection of queue, worker and records. A process that runs jobs waits while Redis is away. One that only
 * enqueues fails at once: a request over HTTP must not wait, and nothing may be kept in memory.
 */
export class JobsRedis extends Redis implements OnModuleInit, OnApplicationShutdown {
  constructor(
    connection: string,
    readonly prefix: string,
    socketTimeout: number | undefined,
  ) {
    const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 0, socketTimeout };
    const isPatient = socketTimeout === undefined;
    super(connection, { retryStrategy: () => 500, ...(isPatient ? { maxRetriesPerRequest: null } : failFast) });
    // the commands that need the connection fail or wait by themselves
    this.on('error', () => undefined);
  }

  /** A process that fails at once must not do so only because it has just started. */
  async onModuleInit(): Promise<void> {
    if (this.status === 'ready') return;
    await once(this, 'ready', { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  }

  key(...parts: readonly string[]): string {
    return [this.prefix, ...parts].join(':');
  }

  onApplicationShutdown(): void {
    this.disconnect();
  }
}
