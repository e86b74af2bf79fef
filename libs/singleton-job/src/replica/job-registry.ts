import { defineRegisteredJob, type JobDefinition, type JobRegistration } from '../discovery/index.js';
import { InvalidJobsError, UnknownJobError } from '../errors/index.js';
import { replicaOf } from '../store/index.js';
import { didYouMean, type ResolvedOptions } from '../options/index.js';
import { type Clock } from '../time/index.js';
import { type JobStatistics } from './job-statistics.js';
import { type JobRole, type JobStatus, type TriggerResult } from './job-status.js';
import { type JobSupervisor, type ManagedJob } from './job-supervisor.js';
import { nextDue } from './next-due.js';

/**
 * Sees and steers the jobs of this replica. Inject it wherever you like.
 *
 * @example `constructor(private readonly jobs: SingletonJobRegistry) {}`
 */
export class SingletonJobRegistry {
  constructor(
    private readonly options: ResolvedOptions,
    private readonly parts: {
      readonly supervisor: JobSupervisor;
      readonly statistics: JobStatistics;
      readonly clock: Clock;
    },
  ) {}

  /** Every job of this replica, also disabled ones. Those of decorators are found when the application starts. */
  list(): JobStatus[] {
    return this.parts.supervisor.jobs.map((managed) => this.#statusOf(managed));
  }

  /**
   * One job. To look for one that may not exist, search in {@link list}.
   *
   * @throws UnknownJobError
   */
  get(name: string): JobStatus {
    return this.#statusOf(this.#managed(name));
  }

  /**
   * Runs a job now, if this replica leads it and no run is in flight; otherwise says who leads. Claims nothing: the
   * schedule goes on as if it had not happened, but for an interval, whose next run comes a delay after this one.
   *
   * @throws UnknownJobError
   */
  async trigger(name: string): Promise<TriggerResult> {
    const { workers } = this.#managed(name);
    await workers?.election.term?.untilTrusted();
    const term = workers?.election.term;
    const triggered = term === undefined ? 'not-leader' : (workers?.runner.trigger(term) ?? 'not-leader');
    if (typeof triggered === 'string') {
      // a lock that is about to be released has no leader to name
      const leader = term === undefined ? workers?.election.rival : workers?.election.leader;
      return { started: false, reason: triggered, leader: leaderOf(leader) };
    }
    return { started: true, fencingToken: triggered.fencingToken, startedAt: triggered.startedAt.toISOString() };
  }

  /**
   * Keeps this replica from leading a job until it is resumed or the process ends. Resolves when the run in flight has
   * settled and the lock is given back. Paused on every replica, the job has no leader; the next leader reports what was missed.
   *
   * @throws UnknownJobError
   */
  async pause(name: string): Promise<void> {
    this.#managed(name);
    await this.parts.supervisor.pause(name);
  }

  /**
   * Contends for a paused job again. Does nothing to one that is not paused.
   *
   * @throws UnknownJobError
   */
  resume(name: string): void {
    this.#managed(name);
    this.parts.supervisor.resume(name);
  }

  /**
   * Gives a job to another replica: releases its lock, once the run in flight has settled, and does not compete for 2 s.
   * Resolves when the lock is released; false if this replica did not lead.
   *
   * @throws UnknownJobError
   */
  async stepDown(name: string): Promise<boolean> {
    const { workers } = this.#managed(name);
    return (await workers?.election.stepDown()) ?? false;
  }

  /**
   * Adds a job to those of the decorators. It is checked at once, and competed for once the application has started.
   * Every replica has to register it: one that has not does not take it over.
   *
   * @throws InvalidJobsError with every mistake, or if there is a job of this name already
   */
  register(registration: JobRegistration): void {
    const { supervisor } = this.parts;
    const job = defineRegisteredJob(registration, this.options);
    if (supervisor.find(job.name) !== undefined) throw new InvalidJobsError([takenName(job)]);
    if (supervisor.state === 'stopped') throw new InvalidJobsError([`${job.location}: the application has stopped`]);
    supervisor.add(job);
  }

  /**
   * Takes a job away, also one of a decorator. Resolves when the run in flight has settled and the lock is given back.
   *
   * @throws UnknownJobError
   */
  async unregister(name: string): Promise<void> {
    this.#managed(name);
    await this.parts.supervisor.remove(name);
    this.parts.statistics.forget(name);
  }

  #managed(name: string): ManagedJob {
    const { supervisor } = this.parts;
    const managed = supervisor.find(name);
    if (managed !== undefined) return managed;
    const known = supervisor.jobs.map(({ job }) => job.name);
    throw new UnknownJobError(name, didYouMean(name, known, this.#whyUnknown(known)));
  }

  #whyUnknown(known: readonly string[]): string {
    if (this.parts.supervisor.state === 'new')
      return 'jobs are found when the application starts, after onModuleInit of every other module';
    return known.length === 0 ? 'it has no jobs' : `the jobs are ${known.join(', ')}`;
  }

  #statusOf(managed: ManagedJob): JobStatus {
    const { job, workers } = managed;
    const term = workers?.election.term;
    const role = this.#roleOf(managed);
    const lastRun = this.parts.statistics.lastRunOf(job.name);
    return {
      name: job.name,
      kind: job.schedule.kind,
      schedule: job.schedule.description,
      lockExpiryMs: job.lockExpiryMs,
      timeoutMs: job.timeoutMs ?? null,
      role,
      leader: leaderOf(workers?.election.leader),
      fencingToken: term?.fencingToken ?? null,
      leaseRemainingMs: term === undefined ? null : Math.max(Math.round(term.remainingMs), 0),
      runningSince: workers?.runner.inFlight?.startedAt.toISOString() ?? null,
      lastRun,
      nextTickAt: role === 'disabled' ? null : nextDue(managed, lastRun, this.parts.clock.wallNow()),
      counters: this.parts.statistics.countersOf(job.name),
    };
  }

  #roleOf({ job, workers }: ManagedJob): JobRole {
    const { supervisor } = this.parts;
    if (!this.options.enabled || !job.enabled) return 'disabled';
    if (supervisor.state === 'stopped') return 'stopped';
    if (supervisor.isPaused(job.name)) return 'paused';
    return workers?.election.term === undefined ? 'follower' : 'leader';
  }
}

function takenName({ name, location }: JobDefinition): string {
  return `${location}: there is a job '${name}' already: give each a name of its own`;
}

/** The replica of a holder. A holder that is not of this library is one name. */
function leaderOf(holder: string | undefined): string | null {
  return holder === undefined ? null : (replicaOf(holder) ?? holder);
}
