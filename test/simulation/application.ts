import { StoreError } from '../../libs/singleton-job/src/base/errors/store.error.js';
import { type JobObserver } from '../../libs/singleton-job/src/base/events/observer.js';
import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';
import { sleep } from '../../libs/singleton-job/src/base/time/sleep.js';
import { JobCommands } from '../../libs/singleton-job/src/commands/job-commands.js';
import { createServices, type Services } from '../../libs/singleton-job/src/create-services.js';
import { HeartbeatThreadSender } from '../../libs/singleton-job/src/heartbeat-thread/heartbeat-thread-sender.js';
import { type HeartbeatThreadReport } from '../../libs/singleton-job/src/heartbeat-thread/thread-data.js';
import { type JobRun } from '../../libs/singleton-job/src/jobs/job-run.js';
import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { type Election } from '../../libs/singleton-job/src/leadership/election.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { type Term } from '../../libs/singleton-job/src/leadership/term.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { type JobRunner } from '../../libs/singleton-job/src/runs/job-runner.js';
import { cron } from '../../libs/singleton-job/src/schedule/cron/cron.js';
import { fixedRate } from '../../libs/singleton-job/src/schedule/fixed-rate.js';
import { interval } from '../../libs/singleton-job/src/schedule/interval.js';
import { type Store } from '../../libs/singleton-job/src/store/store.js';
import { job } from '../support/job.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type CommandKind, type FaultOf, type JobPlan } from './story.js';
import { type World } from './world.js';

/** Sees everything that happens in an application. */
export type Observer = JobObserver & {
  /** The replica has taken in the answer to a sync. `isNew`: another incarnation. */
  synced(isNew: boolean): unknown;
  /** An election has taken in its record. */
  observed(election: Election): unknown;
  /** A term begins, of a job or a lock. */
  led(term: Term): unknown;
};

/**
 * The library in one process. All of it is real, but for its clock, its store, its chance, its thread, and what its
 * jobs do.
 */
export class Application {
  readonly services: Services;
  readonly #commands: JobCommands;
  readonly #jobs: ReadonlyMap<string, Job>;
  /** Also of jobs that were removed. */
  readonly runners = new Map<string, JobRunner>();
  #sent = 0;

  constructor(
    private readonly world: World,
    private readonly process: SimulatedProcess,
  ) {
    const { id, clock, link: store, thread, role } = process;
    const { chance, setting, rules } = world;
    const observer = rules.observerOf(process);
    const times = { lockExpiry: setting.ttlMs, shutdownTimeout: chance.oneOf([3_000, 7_000]) };
    const options = resolveOptions(
      { projectName: 'p', store, enabled: role === 'replica', ...times, observers: [observer] },
      {},
      id,
    );
    this.services = createServices(options, { id, clock, store, random: chance.next, heartbeatThread: thread });
    const { pool, replica } = this.services;
    watch(replica, observer);
    this.#commands = new JobCommands(replica);
    this.#jobs = new Map(process.jobs.map((plan) => [plan.name, this.#jobOf(plan)]));
    for (const name of this.#jobs.keys()) this.add(name);
    pool.start();
    // also one without jobs, as one that only looks
    if (role === 'replica') replica.open();
    if (role === 'web') void this.services.locks.withLock(id, () => undefined).catch(() => undefined);
  }

  #jobOf(plan: JobPlan): Job {
    const { name, periodMs, ttlMs: lockExpiryMs } = plan;
    const schedules = { rate: fixedRate, interval, cron: () => cron(`*/${periodMs / 1_000} * * * * *`) };
    const misfireGraceMs = 8_000 + 2 * lockExpiryMs + Math.min(3_000, lockExpiryMs / 4);
    const schedule = schedules[plan.kind](periodMs);
    // of a rolling deploy
    const version = this.process.place % 2 === 0 ? 'old' : 'new';
    const first = plan.kind === 'cron' && ({ firstRun: 'now', version } as const);
    return job({ name, schedule, lockExpiryMs, misfireGraceMs, ...first, run: (run) => this.#work(plan, run) });
  }

  #work({ longRunMs, runMs, isStubborn }: JobPlan, { signal }: JobRun): Promise<void> {
    const { chance } = this.world;
    const { clock } = this.process;
    return new Promise((resolve) => {
      clock.setTimer(chance.is(0.1) ? longRunMs : runMs * chance.next(), resolve);
      if (!isStubborn) signal.addEventListener('abort', () => clock.setTimer(chance.next() * 10, resolve));
    });
  }

  /** A run is in flight. */
  isBusy(job: string): boolean {
    return this.runners.get(job)?.runs.inFlight !== undefined;
  }

  add(name: string): void {
    const { pool } = this.services;
    const job = this.#jobs.get(name);
    if (job === undefined || pool.find(name) !== undefined) return;
    pool.add(job);
    this.runners.set(name, pool.find(name) as JobRunner);
  }

  /** Resolves when the application is closed. What runs goes on. */
  async stop(): Promise<void> {
    const { pool, locks } = this.services;
    await Promise.all([pool.stop(), locks.close()]);
    await pool.close();
    await this.process.thread?.close();
  }

  #election(job: string): Election | undefined {
    const runner = this.runners.get(job);
    return runner && (runner.election ?? this.services.replica.electionFor(runner));
  }

  /** What a caller in this process wants. */
  async command(kind: CommandKind, name: string, untilMs?: number): Promise<void> {
    const { world, process } = this;
    const election =
      kind === 'pauseAll' || kind === 'resumeAll' ? this.services.replica.pauseOfAll : this.#election(name);
    if (election === undefined) return;
    // a pause is no command
    const command = kind === 'trigger' || kind === 'stepDown' ? kind : undefined;
    if (command !== undefined) this.#sent += 1;
    const call = world.rules.asked(`${process.id}#${this.#sent}`, kind, election.name);
    try {
      const wanted = (now: number) => ({ until: untilMs && now + untilMs });
      const pause = () => this.#commands.setPause(election, kind.startsWith('pause') ? wanted : undefined);
      const result = await (command === undefined ? pause() : this.#commands[command](election));
      const isRefused = result !== undefined && 'reason' in result;
      world.rules.answered(call, isRefused ? result.reason : 'done');
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      world.rules.answered(call, 'no-answer');
    }
  }

  /** Waits for the lock and holds it. */
  async lock({ waitMs, holdMs }: FaultOf<'lock'>, acquired: () => void): Promise<void> {
    const handle = await this.services.locks.tryAcquire('a', { wait: waitMs }).catch(() => null);
    if (handle === null) return;
    acquired();
    await sleep(this.process.clock, holdMs, handle.signal);
    await handle.release();
  }
}

/** Tells of what no event does. */
function watch(replica: Replica, observer: Observer): void {
  const { storeView } = replica.context;
  const [observe, electionFor] = [storeView.observe.bind(storeView), replica.electionFor.bind(replica)];
  storeView.observe = (...answer) => {
    const isNew = observe(...answer);
    observer.synced(isNew);
    return isNew;
  };
  replica.electionFor = (candidate) => {
    const lead = candidate.lead.bind(candidate);
    candidate.lead = (term) => {
      observer.led(term as Term);
      lead(term);
    };
    const election = electionFor(candidate);
    const takeIn = election.observe.bind(election);
    election.observe = (record, sequence) => {
      const isNewer = sequence >= election.observed.sequence;
      takeIn(record, sequence);
      if (isNewer) observer.observed(election);
    };
    return election;
  };
}

/** A heartbeat thread without a thread. The main thread has not taken the reports yet. */
export function threadOf(clock: Clock, store: Store) {
  const reports: HeartbeatThreadReport[] = [];
  const report = (one: HeartbeatThreadReport): unknown => reports.push(one);
  const heartbeats = new HeartbeatThreadSender({ clock, store, report, reportUnreachable: () => undefined });
  const [update, endLeases] = [heartbeats.receive.bind(heartbeats), heartbeats.endLeases.bind(heartbeats)];
  return { reports, update, endLeases, takeReports: () => reports.splice(0), close: () => store.close() };
}
export type Thread = ReturnType<typeof threadOf>;
