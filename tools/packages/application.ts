import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npm, tool } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';

const APPS = join(ROOT, 'test/packages/apps');

/** The samples of docs/testing.md, which are the application's own tests as well. */
const SAMPLES = join(ROOT, 'test/integration/testing-samples');
const SAMPLE_FILES = ['prices.ts', 'fakes.ts', 'method.spec.ts', 'schedule.spec.ts', 'failover.spec.ts'];

/** What its programs and scripts run with. */
const ENVIRONMENT = { NODE_ENV: undefined, NODE_OPTIONS: undefined };

/** The packed library in an application of a stranger, outside the checkout. */
export class Application implements AsyncDisposable {
  /** The folder above the application, where its bundles go, has no node_modules. */
  private constructor(private readonly folder: string) {}

  get cwd(): string {
    return join(this.folder, 'app');
  }

  /** By the name of its folder in `test/packages/apps`. `packages` are more of them, such as a client. */
  static async install(name: string, tarball: string, packages: readonly string[] = []): Promise<Application> {
    const app = new Application(await mkdtemp(join(tmpdir(), `singleton-job-${name}-`)));
    try {
      for (const source of [name, 'shared']) await cp(join(APPS, source), app.cwd, { recursive: true });
      for (const file of SAMPLE_FILES) await cp(join(SAMPLES, file), join(app.cwd, 'src/samples', file));
      // its own locked dependencies first, then the tarball on top, as `npm install <tarball>` does
      await app.npm(['ci', '--prefer-offline']);
      await app.npm(['install', '--no-save', '--prefer-offline', tarball, ...packages]);
      return app;
    } catch (error: unknown) {
      await app[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs npm in it, with the URL of a store. */
  async npm(args: readonly string[], url?: string): Promise<void> {
    await npm(args, { cwd: this.cwd, env: { ...ENVIRONMENT, STORE_URL: url }, isShown: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Packs the library and answers the file. */
export async function pack(): Promise<string> {
  return join(ROOT, (await tool('pack.ts')).trim().split('\n').at(-1) ?? '');
}
