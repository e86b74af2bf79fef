import { type JobObserver, type RunInterceptor } from '../events/index.js';
import { type LockStore, type RedisConnectionOptions } from '../store/index.js';
import { type Duration } from './duration.js';
import { type JobOverrides } from './job.options.js';

/** The class of a provider of the application: it is looked up, never constructed. */
export type ExtensionClass<T> = abstract new (...args: never[]) => T;

/** The class of a provider that observes. */
export type ObserverClass = ExtensionClass<JobObserver>;

/** The class of a provider that wraps runs. */
export type InterceptorClass = ExtensionClass<RunInterceptor>;

/**
 * Where the program of the heartbeat thread is, if it is not beside the library: in a bundle.
 *
 * @example
 * ```ts
 * // esbuild: entryPoints: { main: 'src/main.ts', 'heartbeat-thread': 'nestjs-singleton-job/heartbeat-thread' }
 * SingletonJobModule.forRoot({ projectName: 'myapp', connection, heartbeatThread: { workerFile: './dist/heartbeat-thread.js' } })
 * ```
 */
export interface HeartbeatThreadOptions {
  /** A path, absolute or relative to the working directory, or a `file:` URL. The file is what `nestjs-singleton-job/heartbeat-thread` is. */
  readonly workerFile: string | URL;
}

/**
 * The options of the module. They are read once, at start-up, checked all at once, and cannot change after.
 *
 * @example
 * ```ts
 * SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379', lockExpiry: '10s' })
 * ```
 */
export interface SingletonJobOptions {
  /** First part of every key and channel. Replicas of one application share it; other applications on the same Redis must not. */
  readonly projectName: string;

  /** Where Redis is. Required unless there is a `store`, which it gives way to, or `enabled` is false. */
  readonly connection?: RedisConnectionOptions | undefined;

  /**
   * Instead of Redis: a store of your own, or `'memory'`, whose locks are seen by this process only, so that every
   * replica runs every job. In production it takes `allowInMemoryStore` besides.
   */
  readonly store?: LockStore | 'memory' | undefined;

  /**
   * How often a replica sends a heartbeat, one for all its jobs. More: fewer commands. Less: a lost lease is noticed
   * sooner. At least 50 ms. A job with a short `lockExpiry` makes it shorter: a quarter of that, if three do not fit into it.
   *
   * @default '3s', or a quarter of the module's `lockExpiry` if that is set and shorter
   */
  readonly heartbeatInterval?: Duration | undefined;

  /**
   * How long a leader that was killed keeps the lead. More: it is replaced later. Less: a shorter pause of the process or
   * of Redis costs the leadership: half a second of silence, at `'800ms'`. From 500 ms to 1 day, and at least 3 ×
   * `heartbeatInterval` if that is set. Jobs may have their own.
   *
   * @default '10s'
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * Keeps the sessions of this process alive while a job blocks its event loop, for up to 20 s: a worker thread with a
   * connection of its own sends the heartbeats meanwhile. On: no job loses its leader to a long computation. Off: one connection
   * and one thread less. Locks of `LockService` have no session: they expire as without the thread. It needs a `connection` that can be cloned: a URL, or options without functions. The Redis user
   * needs `+info`: without it the thread sends nothing. In a bundle it needs `{ workerFile }`.
   *
   * @default false
   */
  readonly heartbeatThread?: boolean | HeartbeatThreadOptions | undefined;

  /**
   * The longest pause before a lock is requested again that Redis denies (permissions, a key of another type),
   * and after a runner that broke. More: fewer requests. Less: sooner back once it works. Outages do not depend on it: the
   * client reconnects every half second. At least `heartbeatInterval`.
   *
   * @default '30s'
   */
  readonly maxBackoffDelay?: Duration | undefined;

  /**
   * Readable part of what this replica writes into a lock; a random part is always appended, so it need not be unique.
   *
   * @default the environment variable POD_NAME, else the name of the host
   */
  readonly nodeId?: string | undefined;

  /**
   * How long the whole stop may take: waiting for runs, a second after aborting them, a second to release the locks.
   * More: longer runs may finish. Less: a sooner exit. Keep it below what your platform waits before it kills, 10 s
   * with Docker. At least 3 s.
   *
   * @default '8s'
   */
  readonly shutdownTimeout?: Duration | undefined;

  /**
   * IANA name of the zone of cron jobs that name none.
   *
   * @default 'UTC'
   */
  readonly timeZone?: string | undefined;

  /**
   * How late an occurrence of a cron job without an own `misfireGrace` may still start. More: it runs after a longer outage.
   * Less: it is rather reported as missed. Zero: a late occurrence never runs.
   *
   * @default `shutdownTimeout` + 2 × the job's own `lockExpiry` + `heartbeatInterval`
   */
  readonly misfireGrace?: Duration | undefined;

  /**
   * How long a run of a job without an own `warnAfter` may take before it is reported as slow (`runSlow`, a warning in the
   * log). The run goes on. It is noticed within one `heartbeatInterval`; a run that ends before is not reported. More: fewer
   * warnings. Less: a stuck run is noticed sooner. `false`: never.
   *
   * @default '8s'
   */
  readonly warnAfter?: Duration | false | undefined;

  /**
   * False: jobs are discovered and checked, but none runs. Redis is connected to when `LockService` first locks something.
   * The environment variable `SINGLETON_JOB_ENABLED=false` does the same, whatever stands here: for a seed script, a REPL
   * or an end-to-end test. Any value of it but `true`, `false` and nothing is an error.
   *
   * @default true
   */
  readonly enabled?: boolean | undefined;

  /**
   * Changes to jobs by their name. A name that no job has is an error.
   *
   * @default {}
   */
  readonly jobs?: Readonly<Record<string, JobOverrides | undefined>> | undefined;

  /**
   * True: a name in `jobs` that no job has is a debug line, for applications that share one configuration.
   *
   * @default false
   */
  readonly ignoreUnknownJobs?: boolean | undefined;

  /**
   * Observers of events: objects, or classes of providers of the application.
   *
   * @default []
   */
  readonly observers?: readonly (JobObserver | ObserverClass)[] | undefined;

  /**
   * What wraps each run, the first outermost: objects, or classes of providers of the application.
   *
   * @default []
   */
  readonly interceptors?: readonly (RunInterceptor | InterceptorClass)[] | undefined;

  /**
   * Permits `store: 'memory'` where NODE_ENV is `production`: for applications of exactly one process.
   *
   * @default false
   */
  readonly allowInMemoryStore?: boolean | undefined;
}

/** What a class given as `useClass` or `useExisting` implements. */
export interface SingletonJobOptionsFactory {
  /** Called once, at start-up. */
  createSingletonJobOptions(): SingletonJobOptions | Promise<SingletonJobOptions>;
}
