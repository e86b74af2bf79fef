import { within } from '../base/time/sleep.js';
import { type Job } from '../jobs/job.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { JobRunner } from './job-runner.js';
import { Monitor } from './monitor.js';
import { Rebalancing } from './rebalancing.js';
import { type RunnerParts } from './run.js';

/**
 * At the end of a stop: how long a run may take after its signal fired, and how long the last releases may take after
 * that.
 */
const ABORT_MS = 1_000;
const RELEASE_MS = 1_000;
/** A stop that waits for runs after this time is reported, or halfway to the abort, if that is sooner. */
const REPORT_STOP_MS = 1_000;

/** Runs all jobs of one process: an election and a runner for each, from the start of the application to its stop. */
export class JobPool {
  readonly #jobs = new Map<string, JobRunner>();
  /** The same as a list, which is read four times a second. Undefined: not made since the last change. */
  #list: readonly JobRunner[] | undefined;
  readonly #monitor = new Monitor(this.parts.clock, this.parts.notify, () => this.jobs);
  readonly #rebalancing = new Rebalancing(this.parts.replica, () => this.jobs);
  state: 'new' | 'started' | 'stopped' = 'new';
  #stopped: Promise<void> | undefined;

  constructor(
    private readonly options: ResolvedOptions,
    /** What all jobs share. */
    private readonly parts: Omit<RunnerParts, 'job'>,
  ) {}

  /** Every job, enabled or not, in the order in which they were added. */
  get jobs(): readonly JobRunner[] {
    return (this.#list ??= [...this.#jobs.values()]);
  }

  find(name: string): JobRunner | undefined {
    return this.#jobs.get(name);
  }

  /**
   * Begins to compete for every job. It does not wait for the store and does not fail without it. A second call does
   * nothing, nor does a call after a stop: Nest may continue the start of an application that was closed while it
   * started.
   */
  start(): void {
    if (this.state !== 'new') return;
    this.state = 'started';
    for (const runner of this.#jobs.values()) this.#compete(runner);
    if (this.options.enabled && this.options.rebalance) this.#rebalancing.start();
  }

  /** Adds a job, and competes for it when the replica has started. */
  add(job: Job): void {
    // begins with a property: V8 gives each object that begins with a spread hidden classes of its own
    const runner = new JobRunner({ job, ...this.parts }, this.#monitor.watch);
    this.#jobs.set(job.name, runner);
    this.#list = undefined;
    this.#compete(runner);
  }

  /** Starts no new run of a job. Resolves when the run in flight has ended and the job is released. */
  async remove(name: string): Promise<void> {
    const runner = this.#jobs.get(name);
    await runner?.withdraw('unregistered');
    if (this.#jobs.get(name) !== runner) return;
    this.#jobs.delete(name);
    this.#list = undefined;
  }

  /**
   * Starts no new run, and releases each job when its run has ended. Resolves after `shutdownTimeout` at the latest.
   * Later calls return the same promise.
   */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /**
   * Ends heartbeats and connections after a stop. A run that is still in flight has been aborted, and its lease ends by
   * itself.
   */
  async close(): Promise<void> {
    await this.stop();
    this.#monitor.stop();
    await this.parts.replica.close();
  }

  /** Begins to compete for a job, if it is enabled. The first one opens the connection. */
  #compete(runner: JobRunner): void {
    if (this.state !== 'started' || !this.options.enabled || !runner.job.enabled) return;
    runner.compete();
    this.parts.replica.open();
  }

  /** In three parts: runs finish by themselves, the others are aborted, and the last jobs are released. */
  async #stop(): Promise<void> {
    this.state = 'stopped';
    this.#rebalancing.stop();
    const { clock, notify } = this.parts;
    const runners = this.jobs;
    const endAt = clock.now() + this.options.shutdownTimeoutMs;
    const abortAt = endAt - RELEASE_MS - ABORT_MS;
    const report = clock.setTimer(Math.min(REPORT_STOP_MS, (abortAt - clock.now()) / 2), () => {
      for (const run of runners.flatMap(({ runs }) => runs.inFlight ?? [])) {
        const { durationMs: elapsedMs, abortCode } = run;
        // a timer may be late: the signal fires next
        const abortInMs = abortCode === undefined ? Math.max(abortAt - clock.now(), 1) : 0;
        notify('shutdownDelayed', { ...run.toJSON(), elapsedMs, abortInMs });
      }
    });
    const untilEnded = (atMs: number, isMeant: (runner: JobRunner) => boolean = Boolean): Promise<void> => {
      const ends = runners.filter(isMeant).map((runner) => runner.withdraw('shutdown'));
      return within(clock, atMs - clock.now(), Promise.all(ends));
    };

    await untilEnded(abortAt);
    for (const { runs } of runners) runs.close('SHUTDOWN');
    await untilEnded(endAt - RELEASE_MS, ({ runs }) => runs.isBusy);
    report.cancel();
    await untilEnded(endAt, ({ runs }) => !runs.isBusy);
  }
}
