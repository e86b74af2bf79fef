import { type JobObserver, type RunInterceptor } from '../events/index.js';
import { type LockStore, type RedisConnectionOptions } from '../store/index.js';
import { type JobOptionName } from './job-option-table.js';
import { type ResolvedJobOptions } from './resolve-job-options.js';
import { type HeartbeatThreadOptions, type InterceptorClass, type ObserverClass } from './singleton-job.options.js';

/** The checked options of the module, with every default, and frozen. Connections, stores and observers are the user's objects. */
export interface ResolvedOptions {
  readonly projectName: string;
  /** Undefined only with a `store`, or while `enabled` is false. */
  readonly connection: RedisConnectionOptions | undefined;
  /** Wins over `connection`. */
  readonly store: LockStore | 'memory' | undefined;
  readonly heartbeatIntervalMs: number;
  readonly lockExpiryMs: number;
  readonly maxBackoffDelayMs: number;
  /** Undefined: there is no heartbeat thread. Without a `workerFile` the file is beside the library. */
  readonly heartbeatThread: Partial<HeartbeatThreadOptions> | undefined;
  /** Without the random part. */
  readonly nodeId: string;
  readonly shutdownTimeoutMs: number;
  readonly timeZone: string;
  /** Undefined: each cron job has its own default, see `defaultMisfireGraceMs`. */
  readonly misfireGraceMs: number | undefined;
  /** False: never. */
  readonly warnAfterMs: number | false;
  readonly enabled: boolean;
  /** Why no job runs: `enabled: false`, or the variable of the environment. Undefined while `enabled` is true. */
  readonly disabledBy: string | undefined;
  readonly jobs: Readonly<Record<string, ResolvedJobOverrides>>;
  /** The overrides from variables, by the job's name as variables write it: see `jobInVariable`. */
  readonly jobVariables: Readonly<Record<string, ResolvedJobOverrides>>;
  readonly ignoreUnknownJobs: boolean;
  readonly observers: readonly (JobObserver | ObserverClass)[];
  readonly interceptors: readonly (RunInterceptor | InterceptorClass)[];
  readonly allowInMemoryStore: boolean;
}

/** The options of a job, and the schedule of its kind. */
export interface ResolvedJobOverrides extends ResolvedJobOptions {
  /** The names of the options that it sets. */
  readonly given: readonly JobOptionName[];
  /** The variables that set some of them, by option. */
  readonly variables: Readonly<Partial<Record<JobOptionName, string>>>;
  readonly periodMs: number | undefined;
  readonly delayMs: number | undefined;
  readonly cron: string | undefined;
}
