import { type Replica } from '../leadership/index.js';
import { type ResolvedOptions } from '../options/index.js';
import { type JobStatistics } from './job-statistics.js';
import { type JobSupervisor, type ManagedJob } from './job-supervisor.js';
import { overdueSince } from './overdue.js';

/** A job that should have run. */
export interface OverdueJob {
  /** Name of the job. */
  readonly name: string;
  /** The tick that nothing came of, ISO 8601. */
  readonly dueAt: string;
  /** When the run that is still in flight began, ISO 8601. Null when none is. */
  readonly runningSince: string | null;
  /**
   * Whether starting the process anew is the fix: no run is in flight, or one that has outlived its `timeout`. A run without
   * a `timeout` may take as long as it likes.
   */
  readonly isStuck: boolean;
}

/** What is wrong with the jobs of this replica: plain data that can be written as JSON. */
export interface HealthReport {
  /** Where the store has not answered for longer than `lockExpiry`: for one job, or, with null, for all. */
  readonly unreachable: readonly {
    /** Name of the job. Null: all jobs. */
    readonly job: string | null;
    /** For how long, in milliseconds. */
    readonly forMs: number;
  }[];
  /**
   * Jobs that this replica leads and that did not run by their next tick plus `timeout` (or `lockExpiry`) plus `lockExpiry`. Nothing is
   * due of a job that is paused on all replicas.
   */
  readonly overdue: readonly OverdueJob[];
  /**
   * Jobs that this replica competes for and that no replica is known to lead. Not those that are paused on all replicas, and not those
   * that it does not compete for: disabled, paused here, within their `initialDelay`, for 2 s after it stepped down, or while a run of
   * a term that it lost has not settled.
   */
  readonly leaderless: readonly string[];
}

/**
 * Says what is wrong with the jobs of this replica. Asks Redis nothing; inject it wherever you like.
 *
 * @example `constructor(private readonly health: SingletonJobHealth) {}`
 */
export class SingletonJobHealth {
  /** The module makes it. @internal */
  constructor(
    private readonly options: ResolvedOptions,
    private readonly parts: {
      readonly supervisor: JobSupervisor;
      readonly statistics: JobStatistics;
      readonly leadership: Replica;
    },
  ) {}

  /** Nothing is wrong before the application has started, or once it stops. */
  report(): HealthReport {
    const { jobs, state } = this.parts.supervisor;
    if (state !== 'started') return { unreachable: [], overdue: [], leaderless: [] };
    return {
      unreachable: this.#unreachable(),
      overdue: jobs.flatMap((managed) => this.#overdue(managed) ?? []),
      leaderless: jobs.filter(({ workers }) => workers?.election.isLeaderless).map(({ job }) => job.name),
    };
  }

  #unreachable(): HealthReport['unreachable'] {
    const { supervisor, leadership } = this.parts;
    const expiryOf = (job: string | undefined): number =>
      (job === undefined ? undefined : supervisor.find(job)?.job.lockExpiryMs) ?? this.options.lockExpiryMs;
    return leadership.client.outages
      .filter(([job, forMs]) => forMs > expiryOf(job))
      .map(([job, forMs]) => ({ job: job ?? null, forMs: Math.round(forMs) }));
  }

  #overdue({ job, workers }: ManagedJob): OverdueJob | undefined {
    if (workers === undefined || workers.election.pausedAt !== undefined) return undefined;
    // a run of a lost term keeps no other replica from leading
    const inFlight = workers.election.hasLock ? workers.runner.inFlight : undefined;
    const { name } = job;
    const lastRun = this.parts.statistics.lastRunOf(name);
    const { term } = workers.election;
    const due = overdueSince({ job, term, lastRun, inFlight }, this.parts.leadership.clock);
    if (due === undefined) return undefined;
    const runningSince = inFlight?.startedAt.toISOString() ?? null;
    const isStuck = inFlight === undefined || job.timeoutMs !== undefined;
    return { name, dueAt: new Date(due).toISOString(), runningSince, isStuck };
  }
}
