import { type JobDefinition } from '../../../libs/singleton-job/src/discovery/index.js';
import { type JobObserver } from '../../../libs/singleton-job/src/events/index.js';
import { type ResolvedOptions } from '../../../libs/singleton-job/src/options/index.js';
import { createReplica, type JobSupervisor } from '../../../libs/singleton-job/src/replica/index.js';
import { type TestServer } from '../../../libs/singleton-job/src/testing/index.js';
import { type Chance } from './chance.js';
import { type Step } from './plan.js';
import { type ClockFaults, ProcessClock } from './process-clock.js';
import { SimulatedNetwork } from './simulated-network.js';
import { type SimulatedServer } from './simulated-server.js';
import { type Watched, type Recorder } from './recorder.js';
import { type World } from './world.js';

export interface ProcessParts {
  readonly world: World;
  readonly recorder: Recorder;
  /** Of its network. */
  readonly chance: Chance;
  readonly server: SimulatedServer;
  /** The data of the server as its requests find it. */
  readonly data: TestServer;
  readonly options: ResolvedOptions;
  readonly clockFaults: ClockFaults;
  /** In [0, 1). */
  readonly random: () => number;
  /** The jobs of a process, which run on its clock. */
  readonly jobs: (process: SimulatedProcess) => readonly JobDefinition[];
}

/** A timer of a moment, such as the one that spreads followers, keeps no process from its end. */
const LAST_MOMENT_MS = 20;

/** One process with the library in it, as an application runs it, on a clock and a network that fail as the simulation says. */
export class SimulatedProcess implements Watched {
  readonly clock: ProcessClock;
  readonly network: SimulatedNetwork;
  readonly startedMs: number;
  readonly #supervisor: JobSupervisor;
  readonly #parts: ProcessParts;
  #crash: { readonly at: Step; readonly crash: () => void } | undefined;

  constructor(
    readonly name: string,
    parts: ProcessParts,
  ) {
    const { world, recorder, chance, server, data, options, random } = parts;
    this.#parts = parts;
    this.startedMs = world.nowMs;
    this.clock = new ProcessClock(world, parts.clockFaults);
    this.network = new SimulatedNetwork({
      world,
      chance,
      server,
      data,
      clock: this.clock,
      passed: (step) => {
        this.passed(step);
      },
      carriedOut: (request, asked, answer) => {
        if (recorder.isPrinting)
          recorder.note(
            `    server: ${name} ${request} ${JSON.stringify(asked)} => ${JSON.stringify(answer, withMaps)}`,
          );
        recorder.carriedOut(this.clock, request, asked, answer);
      },
      reading: recorder.reading(name),
    });
    recorder.note(`${name} starts`);
    const notify = recorder.listenTo(name, this.clock);
    const observers: JobObserver[] = [
      {
        onEvent: ({ event, payload }) => {
          notify(event, payload);
        },
      },
    ];
    const { clock, network: store } = this;
    this.#supervisor = createReplica(options, { id: name, clock, store, random, observers }).supervisor;
    for (const job of parts.jobs(this)) this.#supervisor.add(job);
    recorder.watch(this);
    this.#supervisor.start();
  }

  leads(job: string): boolean {
    return this.#supervisor.find(job)?.workers?.election.term?.isTrusted() === true;
  }

  hasLock(job: string): boolean {
    return this.#supervisor.find(job)?.workers?.election.hasLock === true;
  }

  /** Comes to a step of a request or a run, at which a crash may wait for it. */
  passed(step: Step): void {
    if (this.#crash?.at === step && !this.clock.hasEnded) this.#crash.crash();
  }

  /** SIGKILL at the next such step. */
  crashAt(at: Step, crash: () => void): void {
    this.#crash = { at, crash };
  }

  /** No crash waits for it any longer. */
  spare(): void {
    this.#crash = undefined;
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
    const { world, recorder } = this.#parts;
    recorder.note(`${this.name} is asked to stop`);
    await this.#supervisor.close();
    await new Promise<void>((resolve) => world.after(LAST_MOMENT_MS, resolve));
    if (!this.clock.hasEnded) this.#end('has stopped');
  }

  #end(how: string): void {
    const { recorder } = this.#parts;
    this.clock.end();
    this.network.end();
    recorder.note(`${this.name} ${how}`);
    recorder.ended(this.name);
  }
}

function withMaps(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
