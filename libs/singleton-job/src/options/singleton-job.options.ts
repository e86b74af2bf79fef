import { type JobObserver } from '../base/events/observer.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type Store } from '../store/store.js';
import { type ConnectionOptions } from '../store/open-store.js';
import { type Duration } from '../base/text/duration.js';
import { type JobOverrides } from './job.options.js';

/** The class of a provider of the application. The library looks up the instance in the container and never constructs one. */
export type ExtensionClass<T> = abstract new (...args: never[]) => T;

/** The class of a provider that is an observer. */
export type ObserverClass = ExtensionClass<JobObserver>;

/** The class of a provider that is an interceptor. */
export type InterceptorClass = ExtensionClass<RunInterceptor>;

/**
 * Where the program of the heartbeat thread is. Needed in a bundle, where it is not beside the library.
 *
 * @example
 * ```ts
 * // esbuild: entryPoints: { main: 'src/main.ts', 'heartbeat-thread': 'nestjs-singleton-job/heartbeat-thread' }
 * SingletonJobModule.forRoot({ projectName: 'myapp', connection, heartbeatThread: { workerFile: './dist/heartbeat-thread.js' } })
 * ```
 */
export interface HeartbeatThreadOptions {
  /** The bundled `nestjs-singleton-job/heartbeat-thread`: a `file:` URL, or a path, absolute or relative to the working directory. */
  readonly workerFile: string | URL;
}

/**
 * The options of the module. They are read and checked once, at start-up, and cannot change later.
 *
 * @example
 * ```ts
 * SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379', lockExpiry: '10s' })
 * ```
 */
export interface SingletonJobOptions {
  /** The first part of every key and channel. Replicas of one application share it; other applications on the same server must not. */
  readonly projectName: string;

  /**
   * Where Redis or PostgreSQL is: a URL `redis:`, `rediss:` or `postgresql:`, options of ioredis or a client of it, `{ nodes, options }` of
   * a Redis Cluster, or `{ postgres }` with options or a `Pool` of `pg`. Required unless there is a `store`, which wins, or `enabled` is false.
   *
   * A function returns any of the other forms, also as a promise: for passwords that change, such as the tokens of IAM. It is called once
   * at start-up, which fails if it fails, and again for each new client. If it then fails, or takes longer than 3 s, the client
   * connects later, and the function is not called again for a second. What it returns may change, but not its kind: one Redis server, a Redis Cluster or a PostgreSQL.
   *
   * @example `connection: async () => ({ host: 'redis', username: 'app', password: await token(), tls: {} })`
   */
  readonly connection?: ConnectionOptions | (() => ConnectionOptions | Promise<ConnectionOptions>) | undefined;

  /**
   * The schema of a PostgreSQL in which the tables and functions are. Applications with a `projectName` of their own may share one.
   *
   * @default 'singleton_job'
   */
  readonly schema?: string | undefined;

  /**
   * Whether the library creates what is missing in the schema of a PostgreSQL. False: you run the SQL of `postgresMigrations()` yourself,
   * and until then no job runs: the log says what is missing.
   *
   * @default true
   */
  readonly migrate?: boolean | undefined;

  /**
   * A store that replaces the connection: your own, or `'memory'`. The locks in `'memory'` belong to this process only, so every replica runs every
   * job. The log warns about that at the start.
   */
  readonly store?: Store | 'memory' | undefined;

  /**
   * How often a replica sends a heartbeat, one for all its jobs. More: fewer commands. Less: a lost lease is noticed sooner. At least
   * 50 ms. If three do not fit into the `lockExpiry` of a job, the replica uses a quarter of that `lockExpiry` instead.
   *
   * @default '3s', or a quarter of the module's `lockExpiry` if that is set and below 10 s
   */
  readonly heartbeatInterval?: Duration | undefined;

  /**
   * How long a killed leader keeps the lead. More: it is replaced later. Less: a shorter pause of the process or of the server costs the lead.
   * With `'800ms'`, half a second without an answer is enough. From 500 ms to 1 day, and at least 3 × `heartbeatInterval` if that is set.
   * A job can have its own.
   *
   * @default '10s'
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * Keeps the leases of this process alive for up to 20 s while a job blocks the event loop. A worker thread with its own connection
   * sends the heartbeats. On: a long computation does not cost the lead. Off: one connection and one thread less.
   *
   * - `connection` must be a URL, or options without functions, or a function that returns one of these: the thread gets a copy.
   * - A Redis user needs `+info`. Without it the thread sends nothing.
   * - A bundle needs `{ workerFile }`.
   *
   * @default false
   */
  readonly heartbeatThread?: boolean | HeartbeatThreadOptions | undefined;

  /**
   * With `heartbeatThread`: a process that ends by an uncaught exception, an unhandled rejection or `process.exit()` ends its leases in
   * the store, so that another replica leads within milliseconds. The process waits for that, for 0.2 s at most. Set it to `false` if a
   * job has work in a worker thread or in a child process, which may outlive the process by a moment.
   *
   * @default true
   */
  readonly crashHandover?: boolean | undefined;

  /**
   * The readable part of this replica's name in locks and logs. A random part is always appended, so it need not be unique.
   *
   * @default the environment variable POD_NAME, else the name of the host
   */
  readonly nodeId?: string | undefined;

  /**
   * How long the whole stop may take: waiting for runs, a second after aborting them, and a second to release the locks. More: longer
   * runs may finish. Less: a sooner exit. At least 3 s. Your platform must wait longer before it kills the process: Docker waits 10 s.
   *
   * @default '8s'
   */
  readonly shutdownTimeout?: Duration | undefined;

  /**
   * IANA name of the time zone of cron jobs that do not set one.
   *
   * @default 'UTC'
   */
  readonly timeZone?: string | undefined;

  /**
   * How late an occurrence of a cron job may still start. More: it runs after a longer outage. Less: it is reported as missed sooner.
   * Zero: a late occurrence never runs. A job can have its own.
   *
   * @default `shutdownTimeout` + 2 × the job's own `lockExpiry` + `heartbeatInterval`
   */
  readonly misfireGrace?: Duration | undefined;

  /**
   * How long a run may take before it is reported as slow (`runSlow`, a warning in the log). The run continues. The report comes up to one
   * `heartbeatInterval` later; a run that ends before it is not reported. More: fewer warnings. Less: a stuck run is noticed sooner.
   * `false`: never. A job can have its own.
   *
   * @default '8s'
   */
  readonly warnAfter?: Duration | false | undefined;

  /**
   * False: jobs are found and checked, but none runs. The application connects when `LockService` takes its first lock. For a
   * seed script, a REPL or an end-to-end test.
   *
   * The environment variable `SINGLETON_JOB_ENABLED=false` does the same, also if this option is true. Any value of the variable except
   * `true`, `false` and nothing is an error.
   *
   * @default true
   */
  readonly enabled?: boolean | undefined;

  /**
   * True: a replica that leads at least two jobs more than another one gives one back, about every 12 s, until they are even. It
   * gives back no job that is in a run or due within 5 s, and no `@WhileLeader` method. A job moves at most once in ten minutes. Set it on
   * every replica. The guide is docs/production/sizing.md.
   *
   * @default false
   */
  readonly rebalance?: boolean | undefined;

  /**
   * Changes to jobs by their name. A name that no job has changes nothing, and the log warns about it.
   *
   * @default {}
   */
  readonly jobs?: Readonly<Record<string, JobOverrides | undefined>> | undefined;

  /**
   * Observers of events: objects, or classes of providers of the application.
   *
   * @default []
   */
  readonly observers?: readonly (JobObserver | ObserverClass)[] | undefined;

  /**
   * Interceptors that wrap each run, the first one outermost: objects, or classes of providers of the application.
   *
   * @default []
   */
  readonly interceptors?: readonly (RunInterceptor | InterceptorClass)[] | undefined;
}

/** The interface of a class given as `useClass` or `useExisting`. */
export interface SingletonJobOptionsFactory {
  /** Called once, at start-up. */
  createSingletonJobOptions(): SingletonJobOptions | Promise<SingletonJobOptions>;
}
