import { copyFile, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type ServerKind } from '../replicas/servers.js';
import { npm, run } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';

const APPS = join(ROOT, 'test/packages/apps');

/** The samples of docs/testing.md, which are the application's own tests as well. */
const SAMPLES = join(ROOT, 'test/integration/testing-samples');
const SAMPLE_FILES = ['prices.ts', 'fakes.ts', 'method.spec.ts', 'schedule.spec.ts', 'failover.spec.ts'];

/** Packages that only some applications need. */
const OPTIONAL_PEERS = ['@nestjs/config', '@nestjs/terminus', '@opentelemetry', 'pg'];

/** The installed package is smaller, with the pages of the guide. */
const SIZE_LIMIT_BYTES = 2_500_000;

/** A limit for a program that does not end. It is generous, because the machine may be busy. */
const SCRIPT_LIMIT_MS = 120_000;
const TOOL_LIMIT_MS = 300_000;

const TEST_RUNNERS = {
  jest: ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'],
  vitest: ['node_modules/vitest/vitest.mjs', 'run'],
} as const;

export type ServerUrls = Readonly<Record<ServerKind, string>>;

interface RunOptions {
  readonly cwd?: string | undefined;
  /** Of the server that the application uses. @default that of Redis */
  readonly url?: string;
}

export interface ConsumerKind {
  /** Its folder under test/packages/apps, which holds manifest, lockfile and settings; the sources are shared by all. */
  readonly name: string;
  /** Module settings to check its types with, besides those that it is built with. */
  readonly alsoCheckedAs: readonly string[];
  /** Those of its test runners that can load Nest on this Node. */
  readonly testRunners: readonly (keyof typeof TEST_RUNNERS)[];
  /** Whether it has the bundlers. */
  readonly isBundled: boolean;
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
    private readonly urls: ServerUrls,
    private readonly dir: string,
    /** A folder without `node_modules`. */
    private readonly bare: string,
  ) {}

  static async create(kind: ConsumerKind, urls: ServerUrls): Promise<Consumer> {
    const dir = await mkdtemp(join(tmpdir(), `singleton-job-${kind.name}-`));
    const bare = await mkdtemp(join(tmpdir(), `singleton-job-${kind.name}-bare-`));
    await cp(join(APPS, kind.name), dir, { recursive: true });
    await cp(join(APPS, 'shared'), dir, { recursive: true });
    await mkdir(join(dir, 'src/samples'));
    for (const name of SAMPLE_FILES) await copyFile(join(SAMPLES, name), join(dir, 'src/samples', name));
    return new Consumer(kind, urls, dir, bare);
  }

  /** Its own locked dependencies first, then the tarball on top, as `npm install <tarball>` does. */
  async install(tarball: string): Promise<void> {
    await npm(['ci', '--prefer-offline'], { cwd: this.dir });
    await npm(['install', '--no-save', '--prefer-offline', tarball], { cwd: this.dir });
    const bytes = await sizeOf(join(this.dir, 'node_modules/nestjs-singleton-job'));
    if (bytes > SIZE_LIMIT_BYTES) throw new Error(`the package takes ${bytes} bytes: more than ${SIZE_LIMIT_BYTES}`);
  }

  async build(): Promise<void> {
    await this.#tsc([]);
    for (const module of this.kind.alsoCheckedAs) {
      await this.#tsc(['--noEmit', '--module', module, '--moduleResolution', module]);
    }
  }

  /** Starts it and waits until it has ended by itself. */
  async boot(kind: ServerKind): Promise<void> {
    this.#expectRun(await this.#run(process.execPath, ['dist/main.js'], SCRIPT_LIMIT_MS, { url: this.urls[kind] }));
  }

  /** The same from one file that finds no `node_modules`. */
  async bootBundle(bundler: 'esbuild' | 'webpack'): Promise<void> {
    const bundle = join(this.bare, `${bundler}.cjs`);
    await this.#node(['bundle.mjs', bundler, bundle], TOOL_LIMIT_MS);
    this.#expectRun(await this.#node([bundle], SCRIPT_LIMIT_MS, this.bare));
  }

  /** The same from a copy of Node that contains the file of esbuild. */
  async bootExecutable(): Promise<void> {
    const executable = join(this.bare, 'application');
    await this.#node(['executable.mjs', join(this.bare, 'esbuild.cjs'), executable], TOOL_LIMIT_MS);
    this.#expectRun(await this.#run(executable, [], SCRIPT_LIMIT_MS, { cwd: this.bare }));
  }

  async runScript(file: string): Promise<void> {
    await this.#node([file], SCRIPT_LIMIT_MS);
  }

  /** Without the optional peers the main entry point loads. With them every entry point loads and works in an application. */
  async checkEntryPoints(): Promise<void> {
    await this.#withoutPeers(() => this.runScript('without-peers.mjs'));
    await this.runScript('entry-points.mjs');
    await this.runScript('dist/observed.js');
  }

  async test(runner: keyof typeof TEST_RUNNERS): Promise<void> {
    await this.#node(TEST_RUNNERS[runner], TOOL_LIMIT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of [this.dir, this.bare]) await rm(folder, { recursive: true, force: true });
  }

  async #withoutPeers(check: () => Promise<unknown>): Promise<void> {
    const places = OPTIONAL_PEERS.map((name) => [join(this.dir, 'node_modules', name), join(this.dir, basename(name))]);
    for (const [place = '', aside = ''] of places) await rename(place, aside);
    await check();
    for (const [place = '', aside = ''] of places) await rename(aside, place);
  }

  #expectRun(output: string): void {
    const printed = output.split('\n').find((line) => line.startsWith('{'));
    if (printed === undefined || !isPlausible(JSON.parse(printed) as PrintedRun)) {
      throw new Error(`${this.kind.name} printed no plausible run:\n${output}`);
    }
  }

  async #tsc(args: readonly string[]): Promise<void> {
    await this.#node(['node_modules/typescript/bin/tsc', ...args], TOOL_LIMIT_MS);
  }

  #node(args: readonly string[], limitMs: number, cwd?: string): Promise<string> {
    return this.#run(process.execPath, args, limitMs, { cwd });
  }

  #run(program: string, args: readonly string[], limitMs: number, options: RunOptions): Promise<string> {
    const { cwd = this.dir, url = this.urls.redis } = options;
    const env = { NODE_ENV: undefined, NODE_OPTIONS: undefined, STORE_URL: url };
    return run(program, args, { cwd, limitMs, env });
  }
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function isPlausible({ job, kind, cause, scheduledAt, startedAt, fencingToken, aborted }: PrintedRun): boolean {
  const isOnGrid = Date.parse(scheduledAt) % 50 === 0 && Date.parse(scheduledAt) <= Date.parse(startedAt);
  return job === 'tick' && kind === 'fixed-rate' && cause === 'schedule' && isOnGrid && fencingToken > 0 && !aborted;
}
