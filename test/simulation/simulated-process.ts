import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type Notify } from '../../libs/singleton-job/src/events/index.js';
import { type InMemoryLockStore, type LockStore } from '../../libs/singleton-job/src/lock/index.js';
import { type ResolvedOptions } from '../../libs/singleton-job/src/options/index.js';
import { JobSupervisor } from '../../libs/singleton-job/src/runner/index.js';
import { type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { type Chance } from './chance.js';
import { type Command, type Step } from './plan.js';
import { type ClockFaults, ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { type About, SimulatedNetwork } from './simulated-network.js';
import { type Witness } from './witness.js';
import { type World } from './world.js';

/** What a program is given that runs in a simulated process. */
export interface ProgramParts {
  readonly name: string;
  readonly clock: ProcessClock;
  /** The way to the store. `send` takes any command through the same weather. */
  readonly store: SimulatedNetwork;
  /** The server itself, for what programs send that no lock store does. */
  readonly server: InMemoryLockStore;
  readonly options: ResolvedOptions;
  readonly jobs: readonly JobDefinition[];
  /** Tells the witness. */
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface RunningProgram {
  /** Stops it as SIGTERM does, and resolves when the process would exit. */
  stop(): Promise<void>;
  /** Gives every job that it leads to another: a promise for each, which resolves once it has. */
  stepDown?(): readonly Promise<boolean>[];
}

export type Program = (parts: ProgramParts) => RunningProgram;

/** The library, as an application runs it. */
export const libraryProgram: Program = ({ name, options, jobs, notify, clock, store, random }) => {
  const supervisor = new JobSupervisor({ replicaId: name, options, jobs, notify, clock, store, random });
  supervisor.start();
  return {
    stop: () => supervisor.close(),
    stepDown: () => supervisor.jobs.flatMap(({ workers }) => workers?.election.stepDown() ?? []),
  };
};

export interface ProcessParts {
  readonly world: World;
  readonly witness: Witness;
  /** Of its network. */
  readonly chance: Chance;
  readonly server: InMemoryLockStore;
  /** The server as its commands find it. */
  readonly commands: LockStore;
  readonly line: ServerLine;
  readonly options: ResolvedOptions;
  readonly clockFaults: ClockFaults;
  readonly program: Program;
  readonly random: () => number;
  /** The schedule of its cron job. */
  readonly cron: CronSchedule;
  /** The jobs of a process, which run on its clock. */
  readonly jobs: (process: SimulatedProcess, cron: CronSchedule) => readonly JobDefinition[];
}

/** What followers wait longest when they hear of a release with a few others. */
const LAST_MOMENT_MS = 20;

/** One process with a program in it, on a clock and a network that fail as the simulation says. */
export class SimulatedProcess {
  readonly clock: ProcessClock;
  readonly network: SimulatedNetwork;
  readonly #program: RunningProgram;
  readonly #parts: ProcessParts;
  readonly #ears: InMemoryLockStore;
  #crash: { readonly at: Step; readonly crash: () => void } | undefined;

  constructor(
    readonly name: string,
    parts: ProcessParts,
  ) {
    const { world, witness, chance, server, commands, line, options, program, random } = parts;
    this.#parts = parts;
    this.#ears = server.replica();
    this.clock = new ProcessClock(world, parts.clockFaults);
    const wire = {
      sent: (command: string) => {
        this.passed(`${command} sent` as Step);
      },
      carriedOut: (command: string) => {
        this.passed(`${command} carried out` as Step);
      },
      follow: <T>(command: Command, about: About<T>) => witness.follow(name, command, about),
    };
    this.network = new SimulatedNetwork({
      world,
      chance,
      server: commands,
      ears: this.#ears,
      line,
      clock: this.clock,
      wire,
    });
    witness.started(name, { clock: this.clock, cron: parts.cron });
    this.#program = program({
      name,
      options,
      jobs: parts.jobs(this, parts.cron),
      notify: witness.listenTo(name, this.clock),
      clock: this.clock,
      store: this.network,
      server,
      random,
    });
  }

  /** Comes to a step of a command or a run, at which a crash may wait for it. */
  passed(step: Step): void {
    if (this.#crash?.at === step && !this.clock.hasEnded) this.#crash.crash();
  }

  /** SIGKILL at the next such step. */
  crashAt(at: Step, crash: () => void): void {
    this.#crash = { at, crash };
  }

  /** SIGSTOP or a blocked event loop, or a host that is suspended with its monotonic clock. */
  halt(how: 'paused' | 'suspended', forMs: number): void {
    this.#parts.witness.halted(this.name);
    this.#parts.witness.fault(how === 'paused' ? 'pause' : 'suspend', forMs, { process: this.name });
    this.clock.halt(how);
  }

  goOn(): void {
    const stoodStill = this.clock.isPaused;
    this.clock.goOn();
    if (stoodStill && !this.clock.wasSuspended) this.#parts.witness.wentOn(this.name);
  }

  /** Somebody asks it to, and for a while it does not bid for what it gave up. */
  stepDown(): void {
    const { witness, options } = this.#parts;
    for (const done of this.#program.stepDown?.() ?? []) {
      void done.then((led) => {
        if (led) witness.fault('step-down', 2 * options.heartbeatIntervalMs, { process: this.name });
      });
    }
  }

  /** SIGKILL. */
  kill(): void {
    this.clock.end();
    this.#parts.witness.ended(this.name, 'killed');
    void this.#ears.close();
  }

  /** SIGTERM: resolves when the process would exit. */
  async stop(): Promise<void> {
    const { world, witness } = this.#parts;
    witness.stopAsked(this.name);
    await this.#program.stop();
    witness.stopped(this.name);
    // a timer of a moment, such as the one that spreads followers, keeps no process from its end
    await new Promise<void>((resolve) => world.after(LAST_MOMENT_MS, resolve));
    if (this.clock.hasEnded) return;
    witness.ended(this.name, 'stopped');
    this.clock.end();
    void this.#ears.close();
  }
}
