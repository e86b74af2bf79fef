import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../tools/workspace/paths.js';

const execute = promisify(execFile);

/**
 * Imitates `docker build` without an engine. Each stage is a folder. COPY copies files, and RUN runs in the folder with
 * Node and npm of this machine. Users and file systems of the base image are missing, and so are heredocs, ARG and
 * variables.
 */
export class Image implements AsyncDisposable {
  readonly environment: Record<string, string> = {};
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];
  /** The working directory of the last stage. */
  dir = '';
  /** The folders of the stages, by their names after AS. */
  readonly #stages = new Map<string, string>();

  private constructor(private readonly scratch: string) {}

  /** Builds from the tracked files of this checkout. */
  static async build(dockerfile: string): Promise<Image> {
    const image = new Image(await mkdtemp(join(tmpdir(), 'singleton-job-image-')));
    try {
      await exportTrackedFiles(image.#context);
      const text = dockerfile.replaceAll(/^\s*#.*\n/gm, '').replaceAll('\\\n', ' ');
      for (const [, name = '', rest = ''] of text.matchAll(/^(\S+) +(.+)$/gm)) await image.#follow(name, rest);
      return image;
    } catch (error: unknown) {
      await image[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
  }

  get #context(): string {
    return join(this.scratch, 'context');
  }

  async #follow(name: string, rest: string): Promise<void> {
    switch (name) {
      case 'FROM':
        this.dir = join(this.scratch, `stage-${String(this.#stages.size)}`);
        this.#stages.set(/ AS (\S+)$/.exec(rest)?.[1] ?? '', this.dir);
        await mkdir(this.dir);
        return;
      case 'COPY':
        await this.#copy(rest);
        return;
      case 'RUN':
        await execute('sh', ['-c', rest], {
          cwd: this.dir,
          env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
        });
        return;
      case 'ENV': {
        const [key = '', value = ''] = rest.split('=');
        this.environment[key] = value.replace(/^\/tmp/, this.scratch);
        return;
      }
      case 'CMD':
        this.command = JSON.parse(rest) as string[];
        return;
      case 'HEALTHCHECK':
        this.healthCheck = JSON.parse(rest.replace(/^.*?CMD /, '')) as string[];
        return;
      case 'WORKDIR':
      case 'USER':
        return;
      default:
        throw new Error(`the replay knows no ${name}`);
    }
  }

  async #copy(rest: string): Promise<void> {
    const [, alias, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
    const origin = alias === undefined ? this.#context : (this.#stages.get(alias) ?? '');
    const words = paths.split(/\s+/);
    const target = words.pop() ?? '';
    for (const word of words) {
      const source = join(origin, word.replace(/^\/app\//, ''));
      const to = join(this.dir, target, target.endsWith('/') ? basename(word) : '');
      await cp(source, to, { recursive: true, verbatimSymlinks: true });
    }
  }
}

async function exportTrackedFiles(context: string): Promise<void> {
  const { stdout } = await execute('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 10_000_000 });
  for (const path of stdout.split('\0').filter(Boolean)) await cp(join(ROOT, path), join(context, path));
}
