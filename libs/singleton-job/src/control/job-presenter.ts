import { type Job } from '../jobs/job.js';
import { timesAfter } from '../jobs/next-times.js';
import * as decide from '../leadership/decide.js';
import { ABSENT, jobRecord, type Pause, type RunRecord } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { nextDue } from '../runs/due.js';
import { type JobPool } from '../runs/job-pool.js';
import { type JobRunner } from '../runs/job-runner.js';
import { replicaOf } from '../store/lease-id.js';
import { type JobStatistics } from './job-statistics.js';
import { type JobOverview, type JobStatus } from './job-status.js';

/** How many ticks an overview shows. */
const MAX_TICKS = 3;

/** Shows jobs as plain data. */
export class JobPresenter {
  constructor(
    private readonly options: ResolvedOptions,
    private readonly pool: JobPool,
    private readonly replica: Replica,
    private readonly statistics: JobStatistics,
  ) {}

  /** As this replica sees it. */
  statusOf(runner: JobRunner): JobStatus {
    const { statistics } = this;
    const { job, runs, election } = runner;
    const { activeTerm: term, ownPause, leader = null } = election ?? {};
    return {
      ...this.#planOf(job, ownPause),
      nextTickAt: isoOf(this.#dueOf(job, ownPause, runs.isBusy ? undefined : term?.fields.run)),
      lockExpiryMs: job.lockExpiryMs,
      timeoutMs: job.timeoutMs ?? null,
      role: this.#roleOf(runner),
      leader,
      fencingToken: term?.fencingToken ?? null,
      leaseRemainingMs:
        term === undefined ? null : Math.max(Math.round(term.deadline.now - this.replica.clock.now()), 0),
      runningSince: runs.inFlight?.startedAt.toISOString() ?? null,
      lastRun: statistics.lastRunOf(job.name),
      counters: statistics.countersOf(job.name),
    };
  }

  #planOf({ name, schedule: { kind, description } }: Job, own: Pause | undefined) {
    return { name, kind, schedule: description, ...pauseFieldsOf(this.replica.pauseOfAll.pause, own) };
  }

  /** When the next tick is due. `run`: the last one in the record of the job. */
  #dueOf({ schedule }: Job, own: Pause | undefined, run: RunRecord | undefined): number | undefined {
    const { clock, context, pauseOfAll } = this.replica;
    if ((pauseOfAll.pause ?? own) !== undefined) return undefined;
    return nextDue(schedule, run, schedule.kind === 'interval' ? context.storeView.storeNow() : clock.wallNow());
  }

  /** As its record shows it. */
  overviewOf(job: Job, record = ABSENT): JobOverview {
    const { holder, run } = record.value ?? {};
    const { storeView } = this.replica.context;
    const pause = decide.pauseOf(record.value ?? {}, storeView.storeNow());
    const election = this.replica.find(jobRecord(job.name));
    const isHeld = holder !== undefined && decide.ownership(record, storeView) === 'held';
    const { leader = null } = election ?? (isHeld ? { leader: replicaOf(holder) } : {});
    const due = this.#dueOf(job, pause, run);
    const ticks = due === undefined ? [] : [due, ...timesAfter(job.schedule, due, MAX_TICKS - 1)];
    const nextTimes = ticks.map((tick) => new Date(tick).toISOString());
    return { ...this.#planOf(job, pause), leader, nextTimes, lastRun: run === undefined ? null : lastRunOf(run) };
  }

  #roleOf({ job, election }: JobRunner): JobStatus['role'] {
    if (!this.options.enabled || !job.enabled) return 'disabled';
    if (this.pool.state === 'stopped') return 'stopped';
    if (election?.pause !== undefined) return 'paused';
    return election?.activeTerm === undefined ? 'follower' : 'leader';
  }
}

/** The pause that counts: that of all jobs, or that of one. */
export function pauseFieldsOf(
  all: Pause | undefined,
  own: Pause | undefined,
): Pick<JobStatus, 'pausedAt' | 'pausedUntil' | 'pauseReason' | 'pauseScope'> {
  const { at, until, reason: pauseReason = null } = all ?? own ?? {};
  const scope = all === undefined ? 'job' : 'all';
  const pauseScope = at === undefined ? null : scope;
  return { pausedAt: isoOf(at), pausedUntil: isoOf(until), pauseReason, pauseScope };
}

/** As ISO 8601. Null for none. */
function isoOf(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}

function lastRunOf({ startedAt, endedAt, outcome, error, by }: RunRecord): JobOverview['lastRun'] {
  const [began, ended] = [new Date(startedAt).toISOString(), isoOf(endedAt)];
  return { startedAt: began, endedAt: ended, outcome: outcome ?? null, error: error ?? null, by };
}
