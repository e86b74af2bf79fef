import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type InMemoryLockStore, type LockStore } from '../../libs/singleton-job/src/store/index.js';
import { type ResolvedOptions } from '../../libs/singleton-job/src/options/index.js';
import { JobSupervisor } from '../../libs/singleton-job/src/runner/index.js';
import { type Chance } from './chance.js';
import { type Step } from './plan.js';
import { type ClockFaults, ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { SimulatedNetwork } from './simulated-network.js';
import { type Witness } from './witness.js';
import { type World } from './world.js';

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
  /** In [0, 1). */
  readonly random: () => number;
  /** The jobs of a process, which run on its clock. */
  readonly jobs: (process: SimulatedProcess) => readonly JobDefinition[];
}

/** What followers wait longest when they hear of a release with a few others. */
const LAST_MOMENT_MS = 20;

/** One process with the library in it, as an application runs it, on a clock and a network that fail as the simulation says. */
export class SimulatedProcess {
  readonly clock: ProcessClock;
  readonly network: SimulatedNetwork;
  readonly #supervisor: JobSupervisor;
  readonly #parts: ProcessParts;
  readonly #ears: InMemoryLockStore;
  #crash: { readonly at: Step; readonly crash: () => void } | undefined;

  constructor(
    readonly name: string,
    parts: ProcessParts,
  ) {
    const { world, witness, chance, server, commands, line, options, random } = parts;
    this.#parts = parts;
    this.#ears = server.replica();
    this.clock = new ProcessClock(world, parts.clockFaults);
    this.network = new SimulatedNetwork({
      world,
      chance,
      server: commands,
      ears: this.#ears,
      line,
      clock: this.clock,
      passed: (step) => {
        this.passed(step);
      },
      confirmed: (confirmation) => {
        witness.confirmed({ process: name, ...confirmation });
      },
    });
    witness.note(`${name} starts`);
    this.#supervisor = new JobSupervisor({
      replicaId: name,
      options,
      jobs: parts.jobs(this),
      notify: witness.listenTo(name, this.clock),
      clock: this.clock,
      store: this.network,
      random,
    });
    this.#supervisor.start();
  }

  /** Comes to a step of a command or a run, at which a crash may wait for it. */
  passed(step: Step): void {
    if (this.#crash?.at === step && !this.clock.hasEnded) this.#crash.crash();
  }

  /** SIGKILL at the next such step. */
  crashAt(at: Step, crash: () => void): void {
    this.#crash = { at, crash };
  }

  /** Gives every job that it leads to another. */
  stepDown(): void {
    for (const { workers } of this.#supervisor.jobs) void workers?.election.stepDown();
  }

  /** SIGKILL. */
  kill(): void {
    this.#end('is killed');
  }

  /** SIGTERM: resolves when the process would exit. */
  async stop(): Promise<void> {
    const { world, witness } = this.#parts;
    witness.note(`${this.name} is asked to stop`);
    await this.#supervisor.close();
    // a timer of a moment, such as the one that spreads followers, keeps no process from its end
    await new Promise<void>((resolve) => world.after(LAST_MOMENT_MS, resolve));
    if (!this.clock.hasEnded) this.#end('has stopped');
  }

  #end(how: string): void {
    const { witness } = this.#parts;
    this.clock.end();
    witness.ended(this.name);
    witness.note(`${this.name} ${how}`);
    void this.#ears.close();
  }
}
