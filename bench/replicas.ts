import { type RecordedRun } from '../tools/replicas/history.js';
import { recordedRuns } from '../tools/replicas/recorded-runs.js';
import { until } from '../tools/replicas/until.js';
import { WorkerProcess } from '../tools/replicas/worker-process.js';
import { type OwnServer } from '../tools/servers/own-server.js';
import { type JobSpec, type Settings } from './contestants/contestant.js';
import { type Contestant } from './contestants.js';
import { Servers } from './servers.js';

const PROGRAM = new URL('dist/main.js', import.meta.url).pathname;

export interface ReplicasOptions {
  readonly jobs: readonly JobSpec[];
  /** @default 3 */
  readonly count?: number;
  /** @default runs */
  readonly reports?: Settings['reports'];
  /** Starts all at once, so that they compete for the jobs. @default false */
  readonly atOnce?: boolean;
  /** Servers to share with other contestants. @default one of its own */
  readonly servers?: Servers;
}

/** One job of 500 ms whose runs take a part of that, so that a kill hits one. */
export const HALF_SECOND: JobSpec = { name: 'tick', periodMs: 500, takesMs: 200 };

const living = new Set<WorkerProcess>();
process.on('exit', () => {
  for (const replica of living) void replica.kill();
});

let projects = 0;

/** Processes of one contestant, with its server. Leaves none of them behind: `await using`. */
export class Replicas implements AsyncDisposable {
  readonly all: WorkerProcess[] = [];
  readonly #project = `bench-${++projects}`;

  private constructor(
    readonly contestant: Contestant,
    private readonly options: ReplicasOptions,
    private readonly servers: Servers,
    readonly server: OwnServer,
  ) {}

  /** Resolves once all of them are ready. The first one is ready before others start, so that it leads. */
  static async start(contestant: Contestant, options: ReplicasOptions): Promise<Replicas> {
    const servers = options.servers ?? new Servers();
    const replicas = new Replicas(contestant, options, servers, await servers.of(contestant.server));
    try {
      const { count = 3, atOnce = false } = options;
      if (!atOnce) await replicas.add(1);
      await replicas.add(count - replicas.all.length);
      return replicas;
    } catch (error) {
      await replicas[Symbol.asyncDispose]();
      throw error;
    }
  }

  async add(count: number): Promise<void> {
    const added = Array.from({ length: count }, () => this.#fork());
    await this.until('all replicas are ready', () => added.every(({ isReady }) => isReady));
  }

  /** The first one that was started. */
  get first(): WorkerProcess {
    const [first] = this.all;
    if (first === undefined) throw new Error('no replica was started');
    return first;
  }

  get last(): WorkerProcess {
    return this.all.at(-1) ?? this.first;
  }

  /** Every run, oldest first. */
  get runs(): RecordedRun[] {
    return this.all.flatMap((replica) => recordedRuns(replica)).sort((a, b) => a.startedAtMs - b.startedAtMs);
  }

  /** Waits for a run that has only just begun, and says which process it is in. */
  async freshRun(): Promise<WorkerProcess> {
    let found: WorkerProcess | undefined;
    await this.until('a run has just begun', () => {
      const run = this.runs.findLast(
        ({ endedAtMs, startedAtMs }) => endedAtMs === Infinity && Date.now() - startedAtMs < 100,
      );
      found = this.all.find(({ node }) => node === run?.node);
      return found !== undefined;
    });
    return found as unknown as WorkerProcess;
  }

  /** Waits for the first run that began after `sinceMs`, on a replica other than `notOn`. */
  async runAfter(sinceMs: number, notOn?: WorkerProcess): Promise<RecordedRun> {
    let found: RecordedRun | undefined;
    await this.until('the next run', () => {
      found = this.runs.find(({ startedAtMs, node }) => startedAtMs > sinceMs && node !== notOn?.node);
      return found !== undefined;
    });
    return found as unknown as RecordedRun;
  }

  until(what: string, holds: () => boolean): Promise<unknown> {
    const details = (): string =>
      [this.contestant.name, ...this.all.flatMap(({ lines }) => lines.slice(-10).map(({ text }) => text))].join('\n');
    return until(what, holds, { details });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.kill()));
    if (this.options.servers === undefined) await this.servers[Symbol.asyncDispose]();
  }

  #fork(): WorkerProcess {
    const node = `r${this.all.length + 1}`;
    const { program, options } = this.contestant;
    const { jobs, reports = 'runs' } = this.options;
    const serverUrl = this.server.url;
    const settings: Settings = { program, node, project: this.#project, serverUrl, jobs, reports, options };
    const variables = { CONTESTANT: JSON.stringify(settings) };
    const replica = new WorkerProcess(node, variables, { program: PROGRAM, isProcessOne: false });
    living.add(replica);
    void replica.exited.then(() => living.delete(replica));
    this.all.push(replica);
    return replica;
  }
}

/** Replicas of several contestants, started one after the other, for as long as `during` lasts. */
export async function withAll<T>(
  contestants: readonly Contestant[],
  optionsOf: (index: number) => ReplicasOptions,
  during: (all: readonly Replicas[]) => Promise<T>,
): Promise<T> {
  const all: Replicas[] = [];
  try {
    for (const [index, one] of contestants.entries()) all.push(await Replicas.start(one, optionsOf(index)));
    return await during(all);
  } finally {
    for (const replicas of all) await replicas[Symbol.asyncDispose]();
  }
}

/** Jobs of one period. */
export function manyJobs(count: number, periodMs = 500): JobSpec[] {
  return [{ name: 'job', count, periodMs }];
}
