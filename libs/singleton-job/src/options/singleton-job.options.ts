import { type JobObserver } from '../base/events/observer.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type Duration } from '../base/text/duration.js';
import { type ConnectionOptions } from '../store/open-store.js';
import { type Store } from '../store/store.js';
import { type JobOverrides } from './job.options.js';

/**
 * The options of the module. They are read and checked once, at start-up, and cannot change later.
 *
 * The first paragraph of each docstring, its default and its link are the tables of docs/options.md.
 *
 * @example
 * ```ts
 * SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379', lockExpiry: '10s' })
 * ```
 */
export interface SingletonJobOptions {
  /**
   * The first part of every key, the same on all replicas. Other applications on the server use another one, and so
   * does staging: otherwise a staging replica can lead a production job.
   *
   * Where both have a job of one name and one schedule, nothing can tell them from two replicas.
   */
  readonly projectName: string;

  /**
   * Where the store is: a URL, options, a client, a pool or a function. Required unless there is a `store` or
   * `enabled` is false.
   *
   * - A URL: `redis:`, `rediss:`, `postgresql:` or `mysql:`; `sqlite:` and the path of a file.
   * - Options of ioredis or a client of it, or `{ nodes, options }` of a Redis Cluster.
   * - `{ postgres }` with options or a `Pool` of `pg`, `{ mysql }` with options of `mysql2`.
   * - A function, also an asynchronous one: for passwords that change, such as the tokens of IAM. It is called once at
   *   start-up, which fails if it fails, and again for each new client. If it then fails, or takes longer than 3 s, the
   *   client connects later, and the function is not called again for a second. What it returns may change, but not its
   *   kind: one Redis server, a Redis Cluster, a PostgreSQL, a MySQL or a SQLite.
   *
   * @see docs/production/redis.md#connection
   * @see docs/production/postgresql.md#connection
   * @see docs/production/mysql.md#connection
   * @see docs/production/sqlite.md
   * @example `connection: async () => ({ host: 'redis', username: 'app', password: await token(), tls: {} })`
   */
  readonly connection?: ConnectionOptions | (() => ConnectionOptions | Promise<ConnectionOptions>) | undefined;

  /**
   * The schema of the tables in PostgreSQL.
   *
   * Applications with a `projectName` of their own may share one.
   *
   * @default 'singleton_job'
   * @see docs/production/postgresql.md#schema
   */
  readonly schema?: string | undefined;

  /**
   * `false`: your team runs the SQL of `postgresMigrations()` or `mysqlMigrations()`.
   *
   * Otherwise the library creates what is missing in the schema. Until it is there no job runs, and the log says so.
   *
   * @default true
   * @see docs/production/postgresql.md#schema
   */
  readonly migrate?: boolean | undefined;

  /**
   * Replaces the connection: a store of your own, or `'memory'`, which works within one process only.
   *
   * With `'memory'` every replica runs every job. The log warns about that at the start.
   *
   * @see docs/own-store.md
   */
  readonly store?: Store | 'memory' | undefined;

  /**
   * How often a replica sends a heartbeat, one for all its jobs.
   *
   * More: fewer commands. Less: a lost lease is noticed sooner. If three do not fit into the `lockExpiry` of a job, the
   * replica uses a quarter of that `lockExpiry` instead.
   *
   * @default `'3s'`, or a quarter of a `lockExpiry` below 10 s
   */
  readonly heartbeatInterval?: Duration | undefined;

  /**
   * How long after its last heartbeat a crashed leader is replaced. A leader loses the leadership if the store does not
   * answer, or its event loop is blocked, until its deadline. It counts for locks too. At least 3 ×
   * `heartbeatInterval`, if that is set. 1 day at most.
   *
   * After a restart of the store, the longest one of all jobs is the grace period. More: a crashed leader is replaced
   * later. Less: a shorter pause of the process or of the server costs the lead. With `'800ms'`, half a second without
   * an answer is enough. A job can have its own.
   *
   * @default '10s'
   * @see docs/guarantees.md
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * Keeps the leases of this process alive for up to 20 s while a job blocks the event loop.
   *
   * A worker thread with its own connection sends the heartbeats. On: a long computation does not cost the lead. Off:
   * one connection and one thread less.
   *
   * - `connection` must be a URL, or options without functions, or a function that returns one of these: the thread
   *   gets a copy.
   * - A Redis user needs `+info`. Without it the thread sends nothing.
   * - A bundle needs `{ workerFile }`.
   *
   * @default false
   * @see docs/options.md#heartbeat-thread
   */
  readonly heartbeatThread?:
    | boolean
    | {
        /**
         * Where the program of the thread is, in a bundle: the bundled `nestjs-singleton-job/heartbeat-thread`. A
         * `file:` URL, or a path, absolute or relative to the working directory.
         *
         * @see docs/production/bundlers.md
         * @example
         * ```ts
         * // esbuild: entryPoints: { main: 'src/main.ts', 'heartbeat-thread': 'nestjs-singleton-job/heartbeat-thread' }
         * heartbeatThread: { workerFile: './dist/heartbeat-thread.js' }
         * ```
         */
        readonly workerFile: string | URL;
      }
    | undefined;

  /**
   * With `heartbeatThread`: a process that crashes hands its jobs over at once. `false` if a job has work in other
   * threads or processes.
   *
   * A process that ends by an uncaught exception, an unhandled rejection or `process.exit()` ends its leases in the
   * store, so that another replica leads within milliseconds. The process waits for that, for 0.2 s at most. Other
   * threads and processes may outlive it by a moment.
   *
   * @default true
   * @see docs/options.md#crashes
   */
  readonly crashHandover?: boolean | undefined;

  /**
   * The name of the replica in the store and in logs. A random part is appended.
   *
   * @default `POD_NAME`, else the host name
   */
  readonly nodeId?: string | undefined;

  /**
   * How long a stop may take. The stop time-out of the platform must be longer.
   *
   * Docker waits 10 s. The time is for waiting for runs, a second after aborting them, and a second to release its
   * jobs. More: longer runs may finish. Less: a sooner exit.
   *
   * @default '8s'
   * @see docs/production/shutdown.md
   */
  readonly shutdownTimeout?: Duration | undefined;

  /**
   * The IANA time zone of cron jobs that do not set one.
   *
   * @default 'UTC'
   */
  readonly timeZone?: string | undefined;

  /**
   * How late an occurrence of a cron job may still start.
   *
   * Zero: a late occurrence never runs. More: it runs after a longer outage. Less: it is reported as missed sooner. A
   * job can have its own.
   *
   * @default `shutdownTimeout` + 2 × the job's own `lockExpiry` + `heartbeatInterval`: 31 s
   * @see docs/schedules.md#misfire
   */
  readonly misfireGrace?: Duration | undefined;

  /**
   * Logs a warning when a run takes longer, and one more if it continues after its abort. `false`: never.
   *
   * It is the event `runSlow`. The run continues. The report comes up to 250 ms later; a run that ends before it is not
   * reported. More: fewer warnings. Less: a stuck run is noticed sooner. A job can have its own.
   *
   * @default '8s'
   */
  readonly warnAfter?: Duration | false | undefined;

  /**
   * `false`: the jobs are found and checked, but none runs. For scripts and tests.
   *
   * The application connects when it takes a lock, manages a job or asks for an overview. The environment variable
   * `SINGLETON_JOB_ENABLED=false` does the same, also if this option is true. Any value of the variable except `true`,
   * `false` and nothing is an error.
   *
   * @default true
   * @see docs/production/scripts.md
   * @see docs/testing.md
   */
  readonly enabled?: boolean | undefined;

  /**
   * `true`: replicas even out how many jobs they lead. Set it on every replica.
   *
   * A replica that leads at least two jobs more than another one releases one, about every 12 s, until they are even.
   * It releases no job that is in a run or due within 5 s, and no `@WhileLeader` method. A job moves at most once in
   * ten minutes.
   *
   * @default false
   * @see docs/production/sizing.md#even-out
   */
  readonly rebalance?: boolean | undefined;

  /**
   * Changes to jobs by their name. A name of no job is a warning in the log.
   *
   * @default {}
   * @see docs/options.md#overrides
   */
  readonly jobs?: Readonly<Record<string, JobOverrides | undefined>> | undefined;

  /**
   * Objects with a method for each event that they need.
   *
   * @default []
   * @see docs/observability.md
   */
  readonly observers?: readonly JobObserver[] | undefined;

  /**
   * Interceptors that wrap each run, the first one outermost: objects, or classes of providers.
   *
   * The instance of a class is looked up in the container. The library never constructs one.
   *
   * @default []
   * @see docs/writing-jobs.md#interceptors
   */
  readonly interceptors?: readonly (RunInterceptor | (abstract new (...args: never[]) => RunInterceptor))[] | undefined;
}

/** The interface of a class given as `useClass` or `useExisting`. */
export interface SingletonJobOptionsFactory {
  /** Called once, at start-up. */
  createSingletonJobOptions(): SingletonJobOptions | Promise<SingletonJobOptions>;
}

/**
 * The options as the application gave them. Replace this provider in a test to switch the jobs off:
 * `.overrideProvider(SINGLETON_JOB_OPTIONS).useValue({ projectName: 'test', enabled: false })`.
 */
export const SINGLETON_JOB_OPTIONS = Symbol.for(
  // Nest shows this name when it cannot inject a parameter of the factory
  'options of SingletonJobModule; to fix: give forRootAsync() imports with the module that exports what inject names',
);
