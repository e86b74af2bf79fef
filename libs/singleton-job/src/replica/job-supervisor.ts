import { type JobDefinition } from '../discovery/index.js';
import { Election, type Replica } from '../leadership/index.js';
import { type Notify } from '../events/index.js';
import { type LockStore } from '../store/index.js';
import { type ResolvedOptions } from '../options/index.js';
import { type Clock } from '../time/index.js';
import { JobRunner } from '../runner/index.js';
import { EventLoopMonitor } from './event-loop-monitor.js';
import { createReplica } from './create-replica.js';
import { ShutdownDeadlines } from './shutdown-deadlines.js';

export interface SupervisorParts {
  readonly options: ResolvedOptions;
  readonly jobs: readonly JobDefinition[];
  /** `nodeId` with a random part: this process in holder values and logs. */
  readonly replicaId: string;
  readonly notify: Notify;
  /** Answers what the jobs share with the locks of the application; left out, it is made of what follows. */
  readonly replica?: () => Replica;
  readonly clock?: Clock;
  readonly store?: LockStore;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** What makes a job run: who decides whether it does here, and who runs it. */
export interface JobWorkers {
  readonly runner: JobRunner;
  readonly election: Election;
  /** Resolves when the lock is given back and nothing runs. */
  readonly ended: Promise<void>;
}

/** A job of this replica. One that is disabled, or not yet started, has no workers. */
export interface ManagedJob {
  readonly job: JobDefinition;
  readonly workers: JobWorkers | undefined;
}

/** Runs all jobs of one process: an election and a runner for each, from the start of the application to its stop. */
export class JobSupervisor {
  readonly #jobs = new Map<string, ManagedJob>();
  /** Stays with a name, also where nobody contends for it yet. */
  readonly #paused = new Set<string>();
  #replica: Replica | undefined;
  #watch: EventLoopMonitor | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #stopped: Promise<void> | undefined;

  constructor(private readonly parts: SupervisorParts) {
    for (const job of parts.jobs) this.add(job);
  }

  /** Every job, whether it is enabled or not, in the order in which it was added. */
  get jobs(): readonly ManagedJob[] {
    return [...this.#jobs.values()];
  }

  find(name: string): ManagedJob | undefined {
    return this.#jobs.get(name);
  }

  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /**
   * Begins to contend for every job. Neither waits for Redis nor fails for want of it. Does nothing the second time, and
   * after a stop: Nest may go on with the start of an application that has been closed meanwhile.
   */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    for (const { job } of this.#jobs.values()) this.add(job);
  }

  /** Takes a job, and contends for it once started. */
  add(job: JobDefinition): void {
    const workers = this.#state === 'started' && job.enabled ? this.#contend(job) : undefined;
    this.#jobs.set(job.name, { job, workers });
    if (this.#paused.has(job.name)) void workers?.election.pause();
  }

  isPaused(name: string): boolean {
    return this.#paused.has(name);
  }

  /** Keeps this replica from leading a job. Resolves when its lock is given back. */
  async pause(name: string): Promise<void> {
    this.#paused.add(name);
    await this.#jobs.get(name)?.workers?.election.pause();
  }

  /** Contends for a job again. */
  resume(name: string): void {
    this.#paused.delete(name);
    this.#jobs.get(name)?.workers?.election.resume();
  }

  /** Starts no new run of a job, and resolves when the one in flight has settled and its lock is given back. */
  async remove(name: string): Promise<void> {
    const managed = this.#jobs.get(name);
    managed?.workers?.election.stop('unregistered');
    await managed?.workers?.ended;
    if (this.#jobs.get(name) !== managed) return;
    this.#jobs.delete(name);
    this.#paused.delete(name);
  }

  /**
   * Starts no new run, releases every job as soon as its own run has settled, and resolves after `shutdownTimeout` at the
   * latest. However often it is called, there is one stop.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends renewals and connections after a stop. What still runs is left to its signal, its lock to expire. */
  async close(): Promise<void> {
    await this.stop();
    this.#watch?.stop();
    await this.#replica?.close();
  }

  /** Begins to contend for a job. The first one opens the connection. */
  #contend(job: JobDefinition): JobWorkers {
    const { notify } = this.parts;
    const replica = (this.#replica ??= this.parts.replica?.() ?? createReplica(this.parts));
    const { clock } = replica;
    const runner = new JobRunner({ job, clock, notify });
    const election = new Election(replica, job, (term, stop) => runner.lead(term, stop));
    const ended = election.run();
    replica.open();
    const runners = () => this.#workers().map((workers) => workers.runner);
    this.#watch ??= new EventLoopMonitor({ clock, notify, runners });
    this.#watch.start();
    return { runner, election, ended };
  }

  #workers(): JobWorkers[] {
    return [...this.#jobs.values()].flatMap(({ workers }) => workers ?? []);
  }

  async #stop(): Promise<void> {
    this.#state = 'stopped';
    const workers = this.#workers();
    if (this.#replica === undefined) return;
    const plan = new ShutdownDeadlines(this.#replica.clock, this.parts.options.shutdownTimeoutMs);
    const ends = (some: readonly JobWorkers[]) => Promise.all(some.map(({ ended }) => ended));
    for (const { election } of workers) election.stop();

    await plan.untilAbort(ends(workers));
    for (const { runner } of workers) runner.close('SHUTDOWN');
    await plan.untilRelease(ends(workers.filter(({ runner }) => runner.isBusy)));
    await plan.untilEnd(ends(workers.filter(({ runner }) => !runner.isBusy)));
  }
}
