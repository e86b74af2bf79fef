import { type Job } from '../jobs/job.js';
import { type Notify } from '../base/events/events.js';
import { type Clock } from '../base/time/clock.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type Election } from '../leadership/election.js';
import { type Replica } from '../leadership/replica.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { JobRunner } from './job-runner.js';
import { Rebalancing } from './rebalancing.js';
import { within } from '../base/time/within.js';
import { Monitor } from './monitor.js';

/** At the end of a stop: how long a run may take after its signal fired, and how long the last releases may take after that. */
const ABORT_MS = 1_000;
const RELEASE_MS = 1_000;
/** A stop that waits for runs after this time is reported, or halfway to the abort, if that is sooner. */
const REPORT_STOP_MS = 1_000;

/** A job of this replica. Without `active`: it is disabled, or not started yet. */
export interface JobEntry {
  readonly job: Job;
  readonly active: JobRunner | undefined;
}

interface JobPoolParts {
  readonly replica: Replica;
  readonly storeName: string;
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
  readonly interceptors: readonly RunInterceptor[];
}

/** Runs all jobs of one process: an election and a runner for each, from the start of the application to its stop. */
export class JobPool {
  readonly #jobs = new Map<string, JobEntry>();
  readonly #monitor: Monitor;
  readonly #rebalancing: Rebalancing | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #stopped: Promise<void> | undefined;

  constructor(
    private readonly options: ResolvedOptions,
    private readonly parts: JobPoolParts,
  ) {
    const runners = (): readonly JobRunner[] => this.#runners();
    this.#rebalancing = options.rebalance ? new Rebalancing({ ...parts, runners }) : undefined;
    this.#monitor = new Monitor({ ...parts, runners });
  }

  /** Every job, enabled or not, in the order in which they were added. */
  get jobs(): readonly JobEntry[] {
    return [...this.#jobs.values()];
  }

  find(name: string): JobEntry | undefined {
    return this.#jobs.get(name);
  }

  get state(): 'new' | 'started' | 'stopped' {
    return this.#state;
  }

  /**
   * Begins to compete for every job. It does not wait for the store and does not fail without it. A second call does nothing, nor does a call
   * after a stop: Nest may continue the start of an application that was closed while it started.
   */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    for (const { job } of this.#jobs.values()) this.add(job);
    if (this.options.enabled) void this.#rebalancing?.run();
  }

  /** Adds a job, and competes for it when the replica has started. */
  add(job: Job): void {
    const isRun = this.#state === 'started' && this.options.enabled && job.enabled;
    const active = isRun ? this.#compete(job) : undefined;
    this.#jobs.set(job.name, { job, active });
  }

  /** The election of a job. If the job is not active, it does not compete, and the replica forgets it when it is used no more. */
  electionOf({ job, active }: JobEntry): Election {
    this.parts.replica.open();
    return (active ?? this.#runnerFor(job)).election;
  }

  /** Starts no new run of a job. Resolves when the run in flight has ended and the lock is released. */
  async remove(name: string): Promise<void> {
    const entry = this.#jobs.get(name);
    await entry?.active?.withdraw('unregistered');
    if (this.#jobs.get(name) === entry) this.#jobs.delete(name);
  }

  /**
   * Starts no new run, and releases each job when its run has ended. Resolves after `shutdownTimeout` at the latest. Later calls return
   * the same promise.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends heartbeats and connections after a stop. A run that is still in flight has been aborted, and its lease ends by itself. */
  async close(): Promise<void> {
    await this.stop();
    this.#monitor.stop();
    await this.parts.replica.close();
  }

  /** Begins to compete for a job. The first one opens the connection. */
  #compete(job: Job): JobRunner {
    const runner = this.#runnerFor(job);
    runner.compete();
    this.parts.replica.open();
    return runner;
  }

  #runnerFor(job: Job): JobRunner {
    const watch = (signal: AbortSignal): (() => void) => this.#monitor.addTerm(signal);
    return new JobRunner({ ...this.parts, job, backoff: this.options, watch });
  }

  #runners(): JobRunner[] {
    return [...this.#jobs.values()].flatMap(({ active }) => active ?? []);
  }

  /** In three parts: runs finish by themselves, the others are aborted, and the last jobs are released. */
  async #stop(): Promise<void> {
    this.#state = 'stopped';
    this.#rebalancing?.stop();
    const { clock, notify } = this.parts;
    const runners = this.#runners();
    const endMs = clock.now() + this.options.shutdownTimeoutMs;
    const abortMs = endMs - RELEASE_MS - ABORT_MS;
    const report = clock.setTimer(Math.min(REPORT_STOP_MS, (abortMs - clock.now()) / 2), () => {
      for (const { inFlight } of runners.map(({ runs }) => runs)) {
        // a timer may be late: the signal fires next
        const abortInMs = inFlight?.abortCode === undefined ? Math.max(abortMs - clock.now(), 1) : 0;
        if (inFlight !== undefined)
          notify('shutdownDelayed', { ...inFlight.info, elapsedMs: inFlight.elapsedMs, abortInMs });
      }
    });
    const untilEnded = (atMs: number, isMeant: (runner: JobRunner) => boolean): Promise<void> => {
      const withdrawn = runners.filter(isMeant).map((runner) => runner.withdraw('shutdown'));
      return within(clock, atMs - clock.now(), Promise.all(withdrawn));
    };

    await untilEnded(abortMs, () => true);
    for (const { runs } of runners) runs.close('SHUTDOWN');
    await untilEnded(endMs - RELEASE_MS, ({ runs }) => runs.isBusy);
    report.cancel();
    await untilEnded(endMs, ({ runs }) => !runs.isBusy);
  }
}
