import { didYouMean } from '../advice/suggest.js';
import { InvalidJobsError, InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { detached } from '../base/time/detached.js';
import { JobCommands, unconfirmed } from '../commands/job-commands.js';
import { type RunEnd, type StepDownResult, type TriggerResult } from '../commands/results.js';
import { checkNames } from '../jobs/check-names.js';
import { defineRegisteredJob, type JobRegistration } from '../jobs/job-registration.js';
import { type Election } from '../leadership/election.js';
import { jobRecord } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { type JobPool } from '../runs/job-pool.js';
import { type JobRunner } from '../runs/job-runner.js';
import { JobPresenter } from './job-presenter.js';
import { UnknownJobError } from './job-registry.errors.js';
import { type JobStatistics } from './job-statistics.js';
import { type JobStatus, type JobOverview } from './job-status.js';
import { type PauseOptions, readPause } from './pause-options.js';
import { readTriggerOptions, type TriggerOptions } from './trigger-options.js';

const NO_CONNECTION_TITLE =
  'overview(), trigger(), stepDown(), pause(), resume(), pauseAll() and resumeAll() need a connection';
const NO_CONNECTION =
  'connection must be given to manage jobs of other replicas, got undefined: set it, also where enabled is false';

const TOO_EARLY = 'jobs are found when the application starts, after onModuleInit of every other module';

const READ_LIMIT_MS = 2_000;
/** A page that many people watch costs one read in this time. */
const CACHE_MS = 2_000;

/**
 * Shows the jobs of this replica, and manages them on all replicas. Inject it into any provider. The guide is
 * docs/managing-jobs.md.
 *
 * @example `constructor(private readonly jobs: SingletonJobRegistry) {}`
 */
export class SingletonJobRegistry {
  readonly #commands: JobCommands;
  readonly #presenter: JobPresenter;
  #overview: { readonly atMs: number; readonly result: Promise<readonly JobOverview[]> } | undefined;

  /** The module makes it. @internal */
  constructor(
    private readonly options: ResolvedOptions,
    private readonly pool: JobPool,
    private readonly replica: Replica,
    private readonly statistics: JobStatistics,
  ) {
    this.#commands = new JobCommands(replica);
    this.#presenter = new JobPresenter(options, pool, replica, statistics);
  }

  /** Every job of this replica, also disabled ones. Decorated jobs are found when the application starts. */
  list(): JobStatus[] {
    return this.pool.jobs.map((runner) => this.#presenter.statusOf(runner));
  }

  /**
   * The status of one job. If the job may not exist, search in {@link list} instead.
   *
   * @throws UnknownJobError
   */
  get(name: string): JobStatus {
    return this.#presenter.statusOf(this.#runner(name));
  }

  /**
   * Every job of this application as the store knows it: leader, pause, next tick and last run, from any replica. It
   * sends one read for 400 jobs, at most every 2 s.
   *
   * @throws StoreError when the store denied the request, or has not answered within 2 s
   */
  async overview(): Promise<readonly JobOverview[]> {
    this.#assertConnected();
    const now = this.replica.clock.now();
    if (this.#overview !== undefined && now - this.#overview.atMs < CACHE_MS) return this.#overview.result;
    const result = detached(() => this.#readOverview());
    this.#overview = { atMs: now, result };
    // an error is not kept
    result.catch(() => (this.#overview = undefined));
    return result;
  }

  /**
   * Runs a job now on the replica that leads it, unless a run is in flight. The schedule continues as if it had not
   * happened, but for an interval, whose next run comes a delay after this one. Resolves within 2 s, and does not wait
   * for the end of the run.
   *
   * @throws UnknownJobError
   * @throws StoreError when the store denied the request, or another program has written the record of the job
   * @example
   * const result = await jobs.trigger('daily-report');
   * if (!result.started) console.log(result.reason, result.leader);
   */
  trigger(name: string): Promise<TriggerResult>;
  /**
   * The same, and waits until the run has ended, on whichever replica it runs. The result has its `outcome`: null if
   * the run goes on after `wait`, or when this application stops, or if its end is not known. Meanwhile this replica
   * reads the record of the job with each heartbeat.
   *
   * @throws InvalidOptionsError with every mistake in the options
   * @throws the reason of `signal`
   * @example
   * const result = await jobs.trigger('daily-report', { wait: '5m' });
   * if (result.started && result.outcome === 'failed') console.log(result.error);
   */
  trigger(name: string, options: TriggerOptions): Promise<TriggerResult<RunEnd>>;
  async trigger(name: string, options?: TriggerOptions): Promise<TriggerResult> {
    const wait = options === undefined ? undefined : readTriggerOptions(options);
    const result = await this.#commands.trigger(this.#election(name), wait);
    const isTooEarly = this.pool.state === 'new' && !result.started && result.reason === 'no-answer';
    return isTooEarly ? { ...result, reason: 'not-started' } : result;
  }

  /**
   * Pauses a job on all replicas until it is resumed or `until` has come, also beyond restarts and deploys. Resolves
   * when the pause is stored. When the leader sees it, within milliseconds or within 10 s if a hint is lost, it lets
   * its run in flight end and releases the job. The next leader reports what was missed. Of several pauses the last one
   * counts, also its `until` and `reason`.
   *
   * @throws UnknownJobError
   * @throws InvalidOptionsError with every mistake of the options. Nothing is paused
   * @throws StoreError when the store has not confirmed the pause within 2 s, or the application stopped first
   * @example await jobs.pause('daily-report', { until: '2h', reason: 'the archive moves' });
   */
  async pause(name: string, options: PauseOptions = {}): Promise<void> {
    const election = this.#election(name);
    return this.#pause(election, options, 'pause()');
  }

  /**
   * Ends the pause of a job on all replicas. Does nothing if the job is not paused. Resolves when the end of the pause
   * is stored. A replica leads the job soon after.
   *
   * @throws UnknownJobError
   * @throws StoreError when the store has not confirmed it within 2 s, or the application stopped first
   * @example await jobs.resume('daily-report');
   */
  async resume(name: string): Promise<void> {
    return this.#commands.setPause(this.#election(name));
  }

  /**
   * Pauses all jobs of the project, also those that are added later, until {@link resumeAll} or until `until` has come:
   * for a migration, or in an incident. Resolves when the pause is stored. Locks go on. A job that is paused by itself
   * stays so when all are resumed. Each leader sees it within milliseconds, or with its next heartbeat if a hint is
   * lost, lets its run in flight end and releases the job.
   *
   * @throws InvalidOptionsError with every mistake of the options. Nothing is paused
   * @throws StoreError when the store has not confirmed the pause within 2 s, or the application stopped first
   * @example await jobs.pauseAll({ reason: 'the database moves' });
   */
  async pauseAll(options: PauseOptions = {}): Promise<void> {
    this.#assertConnected();
    return this.#pause(this.replica.pauseOfAll, options, 'pauseAll()');
  }

  /**
   * Ends the pause of all jobs. Does nothing if there is none. Resolves when the end of the pause is stored. Replicas
   * lead the jobs soon after, but for those that are paused by themselves.
   *
   * @throws StoreError when the store has not confirmed it within 2 s, or the application stopped first
   * @example await jobs.resumeAll();
   */
  async resumeAll(): Promise<void> {
    this.#assertConnected();
    return this.#commands.setPause(this.replica.pauseOfAll);
  }

  /**
   * Gives a job to another replica: its leader releases it, once the run in flight has ended, and does not compete for
   * 2 s. Resolves when the leader has begun to, within 2 s.
   *
   * @throws UnknownJobError
   * @throws StoreError when the store denied the request, or another program has written the record of the job
   * @example await jobs.stepDown('daily-report');
   */
  async stepDown(name: string): Promise<StepDownResult> {
    return this.#commands.stepDown(this.#election(name));
  }

  /**
   * Adds a job that is not decorated. It is checked at once. This replica competes for it when the application has
   * started. Register the job on every replica: a replica without it does not take over.
   *
   * @throws InvalidJobsError with every mistake, or if there is a job of this name already, or one for which the same
   * variables stand, or if the application has stopped
   */
  register(registration: JobRegistration): void {
    const job = defineRegisteredJob(registration, this.options);
    const problems: string[] = [];
    checkNames([...this.pool.jobs.map(({ job: other }) => other), job], this.options, problems);
    if (this.pool.state === 'stopped') problems.push(`${job.location}: the application has stopped`);
    if (problems.length > 0) throw new InvalidJobsError(problems);
    this.pool.add(job);
  }

  /**
   * Removes a job from this replica, also a decorated one. Resolves when the run in flight has ended and the job is
   * released.
   *
   * @throws UnknownJobError
   */
  async unregister(name: string): Promise<void> {
    this.#runner(name);
    await this.pool.remove(name);
    this.statistics.forget(name);
  }

  /** Of a job that can be managed from here. */
  #election(name: string): Election {
    const runner = this.#runner(name);
    this.#assertConnected();
    // if this replica will not compete for the job, it forgets the election when it is used no more
    return runner.election ?? this.replica.electionFor(runner);
  }

  #pause(election: Election, options: PauseOptions, whose: string): Promise<void> {
    const { clock, context } = this.replica;
    const read = (now: number) => readPause(options, whose, now);
    // before anything is sent, by the clock of this replica if that of the store is not known yet
    read(context.storeView.isEmpty ? clock.wallNow() : context.storeView.storeNow());
    return this.#commands.setPause(election, read);
  }

  #assertConnected(): void {
    const { connection, store } = this.options;
    if (connection === undefined && store === undefined)
      throw new InvalidOptionsError([NO_CONNECTION], { title: NO_CONNECTION_TITLE });
  }

  #runner(given: unknown): JobRunner {
    // a caller without types may give anything
    const name = String(given);
    const runner = this.pool.find(name);
    if (runner !== undefined) return runner;
    const names = this.pool.jobs.map(({ job }) => job.name);
    const found = names.length === 0 ? 'it has no jobs' : `the jobs are ${names.join(', ')}`;
    throw new UnknownJobError(name, didYouMean(name, names, this.pool.state === 'new' ? TOO_EARLY : found));
  }

  async #readOverview(): Promise<readonly JobOverview[]> {
    const { replica } = this;
    const { jobs } = this.pool;
    replica.open();
    const names = jobs.map(({ job }) => jobRecord(job.name));
    const records = replica.isClosing ? undefined : await replica.read(names, READ_LIMIT_MS);
    if (records === undefined) throw unconfirmed('the jobs cannot be shown', replica, true);
    return jobs.map(({ job }) => this.#presenter.overviewOf(job, records.get(jobRecord(job.name))));
  }
}
