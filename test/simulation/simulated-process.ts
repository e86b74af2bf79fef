import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { type JobObserver } from '../../libs/singleton-job/src/base/events/observer.js';
import { type ResolvedOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { type ApplicationReplica, createReplica } from '../../libs/singleton-job/src/control/create-replica.js';
import { type JobPool } from '../../libs/singleton-job/src/runs/job-pool.js';
import { type TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { type Chance } from './chance.js';
import { type JobName, JOBS, type Kind, type Step } from './plan.js';
import { type ClockFaults, ProcessClock, type Standstill } from './process-clock.js';
import { type NetworkConditions } from './network-conditions.js';
import { type LockWatch, useLock } from './simulated-locks.js';
import { SimulatedNetwork } from './simulated-network.js';
import { type SimulatedServer } from './simulated-server.js';
import { SimulatedThread } from './simulated-thread.js';
import { type Watched, type Recorder } from './recorder.js';
import { type Timeline } from './timeline.js';

export interface ProcessParts {
  readonly timeline: Timeline;
  readonly recorder: Recorder;
  /** Of its network. */
  readonly chance: Chance;
  /** Of its heartbeat thread. Undefined: it has none. */
  readonly threadChance: Chance | undefined;
  readonly server: SimulatedServer;
  /** The data of the server as its requests find it. */
  readonly data: TestServer;
  readonly options: ResolvedOptions;
  readonly clockFaults: ClockFaults;
  /** How early its next timer fires. */
  readonly earlyMs: () => number;
  /** How it uses `LockService`. Undefined: not at all. */
  readonly lock: { readonly watch: LockWatch; readonly expiryMs: number; readonly chance: Chance } | undefined;
  /** In [0, 1). */
  readonly random: () => number;
  /** The jobs of a process, which run on its clock. */
  readonly jobs: (process: SimulatedProcess) => readonly Job[];
}

/** A short timer, such as the one that spreads the followers, does not keep a process alive. */
const LAST_MOMENT_MS = 20;

/** One process with the library, as in an application. The simulation controls its clock and its network. */
export class SimulatedProcess implements Watched {
  readonly clock: ProcessClock;
  readonly startedMs: number;
  readonly #replica: ApplicationReplica;
  readonly #jobs: readonly Job[];
  readonly #parts: ProcessParts;
  readonly #network: SimulatedNetwork;
  readonly #thread: SimulatedThread | undefined;
  #crash: { readonly at: Step; readonly crash: () => void } | undefined;

  constructor(
    readonly name: string,
    parts: ProcessParts,
  ) {
    const { timeline, recorder, chance, threadChance, options, random, clockFaults, earlyMs } = parts;
    this.#parts = parts;
    this.startedMs = timeline.nowMs;
    this.clock = new ProcessClock(timeline, clockFaults, earlyMs);
    this.#network = this.#connect(name, this.clock, chance);
    this.#thread = threadChance && this.#startThread(threadChance);
    recorder.note(`${name} starts`);
    const notify = recorder.listenTo(name, this.clock);
    const observers: JobObserver[] = [
      {
        onEvent: ({ event, payload }) => {
          notify(event, payload);
        },
      },
    ];
    const replica = { id: name, clock: this.clock, store: this.#network, random, observers, backup: this.#thread };
    this.#replica = createReplica(options, replica);
    this.#jobs = parts.jobs(this);
    for (const job of this.#jobs) this.#pool.add(job);
    recorder.watch(this);
    this.#pool.start();
    const { lock } = parts;
    if (lock !== undefined) void useLock({ name, clock: this.clock, locks: this.#replica.locks, ...lock });
  }

  get #pool(): JobPool {
    return this.#replica.pool;
  }

  set conditions(conditions: NetworkConditions) {
    this.#network.conditions = conditions;
    if (this.#thread !== undefined) this.#thread.network.conditions = conditions;
  }

  /** Ends connections. `both` includes the connection of the heartbeat thread. */
  cut(which: 'requests' | 'subscription' | 'both'): void {
    this.#network.cut(which);
    if (which === 'both') this.#thread?.network.cut(which);
  }

  stepWall(byMs: number): void {
    this.clock.stepWall(byMs);
    this.#thread?.clock.stepWall(byMs);
  }

  /** Halts all threads until {@link goOn}. */
  halt(how: Standstill): void {
    this.clock.halt(how);
    this.#thread?.clock.halt(how);
  }

  /** Either thread may continue first. */
  goOn(): void {
    const isThreadFirst = this.#parts.threadChance?.happens(0.5) === true;
    if (isThreadFirst) this.#thread?.clock.goOn();
    this.clock.goOn();
    this.#thread?.clock.goOn();
  }

  /** Blocks the event loop of its main thread until {@link unblock}. */
  block(): void {
    this.clock.block();
  }

  unblock(): void {
    this.clock.unblock();
    this.#thread?.clock.goOn();
  }

  leads(job: string): boolean {
    return this.#pool.find(job)?.active?.election.term?.isValid() === true;
  }

  kindOf(job: string): Kind | undefined {
    return this.#jobs.find(({ name }) => name === job)?.schedule.kind;
  }

  /** True also if its wall clock was set and the next tick confirms the lease. */
  isLeading(job: string): boolean {
    // what the heartbeat thread has confirmed for a blocked process, as each of its decisions would take it
    this.#replica.leadership.heartbeats.takeReports();
    return this.#isAwake && this.#pool.find(job)?.active?.election.hasLock === true;
  }

  couldLeadSince(job: string, sinceMs: number): boolean {
    const competes = this.#pool.state === 'started' && this.#pool.find(job)?.active !== undefined;
    return competes && this.startedMs <= sinceMs && this.reachesStore;
  }

  get reachesStore(): boolean {
    return this.#isAwake && this.#network.isGood;
  }

  /** A heartbeat thread leads for a main thread that is blocked. */
  get #isAwake(): boolean {
    return this.clock.isRunning || (this.clock.isBlocked && this.#thread !== undefined);
  }

  /** Reaches a step of a request or a run. A crash may be planned for it. */
  passed(step: Step): void {
    if (this.#crash?.at === step && !this.clock.hasEnded) this.#crash.crash();
  }

  /** SIGKILL at the next step of this kind. */
  crashAt(at: Step, crash: () => void): void {
    this.#crash = { at, crash };
  }

  /** Cancels a planned crash. */
  spare(): void {
    this.#crash = undefined;
  }

  /** Steps down from every job that it leads. */
  stepDown(): void {
    for (const job of JOBS) if (this.leads(job)) this.#endsCalls(job);
    for (const { active } of this.#pool.jobs) active?.election.stepDown();
  }

  /** Lives on without a job. */
  unregister(job: JobName): void {
    this.#endsCalls(job);
    void this.#replica.pool.remove(job);
  }

  /** Competes for a job again, unless it still waits for its last run. */
  register(job: JobName): void {
    const { pool } = this.#replica;
    const definition = this.#jobs.find(({ name }) => name === job);
    if (definition !== undefined && pool.find(job) === undefined && !this.clock.hasEnded) pool.add(definition);
  }

  /** Pauses a job on all replicas. If the store does not answer, it is not known whether it is paused. */
  pauseJob(job: JobName): void {
    this.#replica.registry.pause(job).catch(() => undefined);
  }

  resumeJob(job: JobName): void {
    if (!this.clock.hasEnded) this.#replica.registry.resume(job).catch(() => undefined);
  }

  /** SIGKILL. */
  kill(): void {
    this.#end('is killed');
  }

  /** An uncaught exception. A process that is halted or blocked has none: it is killed. */
  exit(): void {
    if (!this.clock.isRunning) {
      this.kill();
      return;
    }
    const { recorder } = this.#parts;
    for (const job of JOBS) if (this.isLeading(job)) recorder.crashed(job);
    this.#endMain('crashes');
    this.#thread?.exit();
  }

  /** SIGTERM: resolves when the process would exit. */
  async stop(): Promise<void> {
    const { timeline, recorder } = this.#parts;
    recorder.note(`${this.name} is stopped`);
    for (const job of JOBS) this.#endsCalls(job);
    await this.#pool.stop();
    await this.#replica.locks.close();
    await this.#pool.close();
    await new Promise<void>((resolve) => timeline.after(LAST_MOMENT_MS, resolve));
    if (!this.clock.hasEnded) this.#end('has stopped');
  }

  /** The signal of a call of `@WhileLeader` fires at once when its replica gives the job back. */
  #endsCalls(job: JobName): void {
    if (this.kindOf(job) === 'while-leader') this.#parts.recorder.signalDue(this.name, job);
  }

  #connect(name: string, clock: ProcessClock, chance: Chance, subscribes = true): SimulatedNetwork {
    const { timeline, recorder, server, data } = this.#parts;
    return new SimulatedNetwork({
      timeline,
      chance,
      server,
      data,
      clock,
      passed: (step) => {
        this.passed(step);
      },
      carriedOut: (request, body, answer) => {
        if (recorder.isPrinting)
          recorder.note(
            `    server: ${name} ${request} ${JSON.stringify(body)} => ${JSON.stringify(answer, withMaps)}`,
          );
        recorder.carriedOut(clock, request, body, answer);
      },
      reading: recorder.reading(this.name),
      subscribes,
    });
  }

  #startThread(chance: Chance): SimulatedThread {
    const { timeline, clockFaults } = this.#parts;
    const clock = new ProcessClock(timeline, clockFaults);
    const network = this.#connect(`${this.name}'s thread`, clock, chance, false);
    return new SimulatedThread({ timeline, chance, clock, network });
  }

  #end(how: string): void {
    this.#endMain(how);
    this.#thread?.end();
  }

  #endMain(how: string): void {
    const { recorder } = this.#parts;
    this.clock.end();
    this.#network.end();
    recorder.note(`${this.name} ${how}`);
    recorder.ended(this.name);
    this.#parts.lock?.watch.ended(this.name);
  }
}

function withMaps(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
