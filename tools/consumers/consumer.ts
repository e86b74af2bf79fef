import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { npm, run } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';

const APPS = join(ROOT, 'test/consumers/apps');

/** What only those need who import an entry point of its own. */
const OPTIONAL_PEERS = ['@nestjs/terminus', '@opentelemetry'];

/** What does not end by itself has to be ended; how fast this machine is at the moment is not asked. */
const SCRIPT_LIMIT_MS = 120_000;
const TOOL_LIMIT_MS = 300_000;

export interface ConsumerKind {
  /** Its folder under test/consumers/apps, which holds manifest, lockfile and settings; the sources are shared by all. */
  readonly name: string;
  /** Module settings to check its types with, besides those that it is built with. */
  readonly alsoCheckedAs: readonly string[];
  /** Whether its own jest can load Nest on this Node. */
  readonly canRunJest: boolean;
}

/** What the sample run prints about itself. */
interface PrintedRun {
  readonly job: string;
  readonly kind: string;
  readonly cause: string;
  readonly scheduledAt: string;
  readonly startedAt: string;
  readonly fencingToken: number;
  readonly aborted: boolean;
}

/** An application of a stranger: a folder outside the checkout that knows the library only as an installed package. */
export class Consumer implements AsyncDisposable {
  private constructor(
    readonly kind: ConsumerKind,
    private readonly dir: string,
  ) {}

  static async create(kind: ConsumerKind): Promise<Consumer> {
    const dir = await mkdtemp(join(tmpdir(), `singleton-job-${kind.name}-`));
    await cp(join(APPS, kind.name), dir, { recursive: true });
    await cp(join(APPS, 'shared'), dir, { recursive: true });
    return new Consumer(kind, dir);
  }

  /** Its own locked dependencies first, then the tarball on top, as `npm install <tarball>` does for anybody. */
  async install(tarball: string): Promise<void> {
    await npm(['ci', '--prefer-offline'], { cwd: this.dir });
    await npm(['install', '--no-save', '--prefer-offline', tarball], { cwd: this.dir });
  }

  async build(): Promise<void> {
    await this.#tsc([]);
    for (const module of this.kind.alsoCheckedAs) {
      await this.#tsc(['--noEmit', '--module', module, '--moduleResolution', module]);
    }
  }

  /** Starts it and waits until it has ended by itself. */
  async boot(): Promise<void> {
    const output = await this.#node(['dist/main.js'], SCRIPT_LIMIT_MS);
    const printed = output.split('\n').find((line) => line.startsWith('{'));
    if (printed === undefined || !isPlausible(JSON.parse(printed) as PrintedRun)) {
      throw new Error(`${this.kind.name} printed no plausible run:\n${output}`);
    }
  }

  /** One class, one decorator key, however the package is loaded. */
  async checkCopies(): Promise<void> {
    await this.#node(['same-copy.mjs'], SCRIPT_LIMIT_MS);
  }

  /** Jobs of a second copy are found, and nothing runs twice. */
  async checkSecondCopy(): Promise<void> {
    await this.#node(['second-copy.mjs'], SCRIPT_LIMIT_MS);
  }

  /** Nobody needs what he does not import; with it every entry point loads, and works in an application. */
  async checkEntryPoints(): Promise<void> {
    await this.#withoutPeers(() => this.#node(['without-peers.mjs'], SCRIPT_LIMIT_MS));
    await this.#node(['entry-points.mjs'], SCRIPT_LIMIT_MS);
    await this.#node(['dist/observed.js'], SCRIPT_LIMIT_MS);
  }

  /** The thread starts from the installed package, and the process ends by itself. */
  async checkHeartbeatThread(): Promise<void> {
    await this.#node(['heartbeat-thread.mjs'], SCRIPT_LIMIT_MS);
  }

  /** Runs in flight can use what they depend on, wherever the module and its jobs stand. */
  async checkStopOrder(): Promise<void> {
    await this.#node(['dist/stop-order.js'], SCRIPT_LIMIT_MS);
  }

  async test(): Promise<void> {
    await this.#node(['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'], TOOL_LIMIT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }

  async #withoutPeers(check: () => Promise<unknown>): Promise<void> {
    const places = OPTIONAL_PEERS.map((name) => [join(this.dir, 'node_modules', name), join(this.dir, basename(name))]);
    for (const [place = '', aside = ''] of places) await rename(place, aside);
    await check();
    for (const [place = '', aside = ''] of places) await rename(aside, place);
  }

  async #tsc(args: readonly string[]): Promise<void> {
    await this.#node(['node_modules/typescript/bin/tsc', ...args], TOOL_LIMIT_MS);
  }

  #node(args: readonly string[], limitMs: number): Promise<string> {
    return run(process.execPath, args, {
      cwd: this.dir,
      limitMs,
      env: { NODE_ENV: undefined, NODE_OPTIONS: undefined },
    });
  }
}

function isPlausible({ job, kind, cause, scheduledAt, startedAt, fencingToken, aborted }: PrintedRun): boolean {
  const isOnGrid = Date.parse(scheduledAt) % 50 === 0 && Date.parse(scheduledAt) <= Date.parse(startedAt);
  return job === 'tick' && kind === 'fixed-rate' && cause === 'schedule' && isOnGrid && fencingToken > 0 && !aborted;
}
