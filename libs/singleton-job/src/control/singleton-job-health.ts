import { type Replica } from '../leadership/replica.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { type JobPool } from '../runs/job-pool.js';
import { type JobRunner } from '../runs/job-runner.js';
import { pauseFieldsOf } from './job-presenter.js';
import { type JobStatus } from './job-status.js';
import { overdueSince } from './overdue.js';

/** What is wrong with the jobs of this replica: plain data that can be written as JSON. */
export interface HealthReport {
  /** The store, if it has not answered for longer than `lockExpiry`. */
  readonly unreachable: readonly {
    /** The name of the store: `Redis`. */
    readonly store: string;
    /** For how long, in milliseconds. */
    readonly forMs: number;
  }[];
  /**
   * Jobs that this replica leads and that are late: they did not run by their next tick plus `timeout` (or `lockExpiry`
   * without one) plus `lockExpiry`. A job that is paused on all replicas is never late.
   */
  readonly overdue: readonly {
    /** Name of the job. */
    readonly name: string;
    /** When the tick was due that did not run, ISO 8601. */
    readonly dueAt: string;
    /** When the run in flight began, ISO 8601. Null: there is none. */
    readonly runningSince: string | null;
    /**
     * True: a restart of the process is the fix. No run is in flight, or a run has outlived its `timeout`. A run
     * without a `timeout` may take any time.
     */
    readonly isStuck: boolean;
  }[];
  /**
   * Jobs that this replica competes for and that have no known leader. Jobs that are paused on all replicas are left
   * out. The list is empty until the store has answered for the first time. This replica does not compete for a job
   *
   * - that is disabled here;
   * - during its `initialDelay`;
   * - for 2 s after it stepped down;
   * - while a run of a lost term has not ended.
   */
  readonly leaderless: readonly string[];
  /** Jobs that this replica competes for and that are paused on all replicas. That is no fault. */
  readonly paused: readonly Pick<JobStatus, 'name' | 'pausedAt' | 'pausedUntil' | 'pauseReason' | 'pauseScope'>[];
}

/**
 * Reports what is wrong with the jobs of this replica. It sends nothing to the store. Inject it into any provider.
 *
 * @example `constructor(private readonly health: SingletonJobHealth) {}`
 */
export class SingletonJobHealth {
  /** The module makes it. @internal */
  constructor(
    private readonly options: ResolvedOptions,
    private readonly pool: JobPool,
    private readonly replica: Replica,
  ) {}

  /** The current report. It is empty before the application has started, and when it stops. */
  report(): HealthReport {
    const { jobs, state } = this.pool;
    if (state !== 'started') return { unreachable: [], overdue: [], leaderless: [], paused: [] };
    const { context, pauseOfAll } = this.replica;
    const { outages, storeName } = context;
    const forMs = Math.round(outages.unreachableMs);
    return {
      unreachable: forMs > this.options.lockExpiryMs ? [{ store: storeName, forMs }] : [],
      overdue: jobs.flatMap((runner) => this.#overdue(runner) ?? []),
      leaderless: jobs.filter(({ election }) => election?.isLeaderless).map(({ job }) => job.name),
      paused: jobs.flatMap(({ job: { name }, election }) =>
        election?.pause === undefined ? [] : { name, ...pauseFieldsOf(pauseOfAll.pause, election.ownPause) },
      ),
    };
  }

  #overdue(runner: JobRunner): HealthReport['overdue'][number] | undefined {
    const due = overdueSince(runner, this.replica.clock.wallNow());
    if (due === undefined) return undefined;
    const { job, runs } = runner;
    const runningSince = runs.inFlight?.startedAt.toISOString() ?? null;
    const isStuck = runningSince === null || job.timeoutMs !== undefined;
    return { name: job.name, dueAt: new Date(due).toISOString(), runningSince, isStuck };
  }
}
