import { LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { type JobObserver, notifyAll } from '../../libs/singleton-job/src/base/events/observer.js';
import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';
import { JobCommands } from '../../libs/singleton-job/src/control/job-commands.js';
import { BackupHeartbeats } from '../../libs/singleton-job/src/heartbeat-thread/backup-heartbeats.js';
import { type JobRun } from '../../libs/singleton-job/src/jobs/job-run.js';
import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { type BackupReport } from '../../libs/singleton-job/src/leadership/backup.js';
import { Replica, type ReplicaObserver } from '../../libs/singleton-job/src/leadership/replica.js';
import { Reports } from '../../libs/singleton-job/src/leadership/reports.js';
import { LockService } from '../../libs/singleton-job/src/locks/lock.service.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { JobPool } from '../../libs/singleton-job/src/runs/job-pool.js';
import { JobRunner } from '../../libs/singleton-job/src/runs/job-runner.js';
import { type SharedParts } from '../../libs/singleton-job/src/runs/single-flight.js';
import { cron } from '../../libs/singleton-job/src/schedule/cron/cron.js';
import { fixedRate } from '../../libs/singleton-job/src/schedule/fixed-rate.js';
import { interval } from '../../libs/singleton-job/src/schedule/interval.js';
import { type Store } from '../../libs/singleton-job/src/store/store.js';
import { type CommandKind, type JobPlan } from './story.js';
import { type Chance } from './timeline.js';

/** What an application is made of. */
export interface ApplicationParts {
  readonly id: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly chance: Chance;
  readonly lifeMs: number;
  /** Of the jobs that it has. */
  readonly jobs: readonly JobPlan[];
  readonly thread: Thread | undefined;
  /** See everything that happens in it. */
  readonly observer: Pick<ReplicaObserver, 'gained' | 'seen' | 'synced'> & JobObserver;
}

/** The library in one process. All of it is real, but for its clock, its store, its chance, and what its jobs do. */
export class Application {
  readonly replica: Replica;
  readonly #pool: JobPool;
  readonly #locks: LockService;
  readonly #commands: JobCommands;
  readonly #jobs = new Map<string, Job>();
  readonly #shared: SharedParts;
  #sent = 0;

  constructor(private readonly parts: ApplicationParts) {
    const { id, clock, store, chance, lifeMs, jobs, thread, observer } = parts;
    const shutdownTimeout = chance.oneOf([3_000, 7_000]);
    const options = resolveOptions({ projectName: 'p', store, lockExpiry: lifeMs, shutdownTimeout }, {}, id);
    const notify = notifyAll([observer], []);
    const common = { store, clock, random: chance.next };
    const scheduleOf = (name: string): string | undefined => this.#jobs.get(name)?.schedule.description;
    const reports = new WatchedReports({ clock, notify, storeName: store.name, scheduleOf }, observer);
    store.addListener(reports);
    const { heartbeatIntervalMs } = options;
    this.replica = new Replica({ ...common, id, lifeMs, heartbeatIntervalMs, observer: reports, backup: thread });
    this.#shared = { clock, replica: this.replica, storeName: store.name, notify, interceptors: [] };
    this.#pool = new JobPool(options, this.#shared);
    this.#commands = new JobCommands(this.#shared);
    this.#locks = new LockService({ options, replica: this.replica, storeName: store.name });
    for (const plan of jobs) this.#jobs.set(plan.name, this.#jobOf(plan));
    for (const job of this.#jobs.values()) this.#pool.add(job);
    this.#pool.start();
    // also one without jobs, as one that only looks
    this.replica.open();
  }

  #jobOf(plan: JobPlan): Job {
    const { name, periodMs, graceMs } = plan;
    const schedule = {
      rate: () => fixedRate(periodMs),
      cron: () => cron(`*/${periodMs / 1_000} * * * * *`),
      interval: () => interval(periodMs),
    }[plan.kind]();
    return {
      name,
      location: name,
      schedule,
      enabled: true,
      lockExpiryMs: plan.lifeMs,
      timeoutMs: undefined,
      warnAfterMs: undefined,
      overlap: 'skip',
      initialDelayMs: 0,
      misfireGraceMs: graceMs,
      invoke: (run) => this.#work(plan, run),
    };
  }

  #work({ longRunMs, runMs, isStubborn }: JobPlan, { signal }: JobRun): Promise<void> {
    const { clock, chance } = this.parts;
    return new Promise((resolve) => {
      clock.setTimer(chance.is(0.1) ? longRunMs : runMs * chance.next(), resolve);
      const stop = (): void => {
        clock.setTimer(chance.next() * 10, resolve);
      };
      if (!isStubborn) signal.addEventListener('abort', stop);
    });
  }

  knows(job: string): boolean {
    return this.#jobs.has(job);
  }

  /** A run is in flight. */
  isBusy(job: string): boolean {
    return this.#pool.find(job)?.runs.inFlight !== undefined;
  }

  /** Nothing of a term runs. */
  isIdle(job: string): boolean {
    return this.#pool.find(job)?.isIdle !== false;
  }

  remove(job: string): Promise<void> {
    return this.#pool.remove(job);
  }

  add(name: string): void {
    const job = this.#jobs.get(name);
    if (job !== undefined && this.#pool.find(name) === undefined) this.#pool.add(job);
  }

  giveBack(job: string): void {
    this.#pool.find(job)?.election?.stepDown('rebalance');
  }

  /** Resolves when the application is closed. What runs goes on. */
  async stop(): Promise<void> {
    await Promise.all([this.#pool.stop(), this.#locks.close()]);
    await this.#pool.close();
  }

  /** The id of the next command. */
  nextCommand(): string {
    return `${this.parts.id}#${this.#sent + 1}`;
  }

  /** Resolves to what the caller is told. */
  async command(kind: CommandKind, name: string): Promise<string> {
    const commands = this.#commands;
    const job = this.#jobs.get(name);
    if (job === undefined) throw new TypeError(`no job ${name}`);
    const entry = this.#pool.find(name) ?? new JobRunner({ ...this.#shared, job, watch: () => undefined });
    if (kind !== 'resume') this.#sent += 1;
    try {
      if (kind === 'pause') return await commands.pause(entry).then(() => 'paused');
      if (kind === 'resume') return await commands.resume(entry).then(() => 'resumed');
      const result = await (kind === 'trigger' ? commands.trigger(entry) : commands.stepDown(entry));
      if ('reason' in result) return result.reason;
      return kind === 'trigger' ? 'started' : 'stepped down';
    } catch (error) {
      if (error instanceof LockStoreError) return 'no-answer';
      throw error;
    }
  }

  /** Waits for the lock and holds it. */
  async lock(
    { waitMs, holdMs }: { readonly waitMs: number; readonly holdMs: number },
    acquired: () => void,
  ): Promise<void> {
    const { clock } = this.parts;
    const handle = await this.#locks.tryAcquire('a', { wait: waitMs }).catch(() => null);
    if (handle === null) return;
    acquired();
    await new Promise<void>((resolve) => {
      clock.setTimer(holdMs, resolve);
      handle.signal.addEventListener('abort', () => {
        resolve();
      });
    });
    await handle.release();
  }
}

/** The real reports, which tell the rules as well. */
class WatchedReports extends Reports {
  constructor(
    parts: ConstructorParameters<typeof Reports>[0],
    private readonly observer: Pick<ReplicaObserver, 'gained' | 'seen' | 'synced'>,
  ) {
    super(parts);
  }

  override gained(...args: Parameters<Reports['gained']>): void {
    this.observer.gained?.(...args);
    super.gained(...args);
  }

  override seen(...args: Parameters<Reports['seen']>): void {
    this.observer.seen?.(...args);
    super.seen(...args);
  }

  override synced(...args: Parameters<Reports['synced']>): void {
    this.observer.synced?.(...args);
    super.synced(...args);
  }
}

/** A heartbeat thread without a thread. */
export class Thread {
  /** The main thread has not taken them yet. */
  readonly reports: BackupReport[] = [];
  readonly #heartbeats: BackupHeartbeats;

  constructor(
    clock: Clock,
    private readonly store: Store,
  ) {
    const report = (one: BackupReport): number => this.reports.push(one);
    this.#heartbeats = new BackupHeartbeats({ clock, store, report, reportUnreachable: () => undefined });
  }

  update(state: Parameters<BackupHeartbeats['receive']>[0]): void {
    this.#heartbeats.receive(state);
  }

  takeReports(): readonly BackupReport[] {
    return this.reports.splice(0);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** The process ends by itself. */
  endLeases(): Promise<void> {
    return this.#heartbeats.endLeases();
  }
}
