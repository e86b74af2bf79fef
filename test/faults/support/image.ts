import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../tools/workspace/paths.js';
import { execForm, type Instruction, readDockerfile, type Stage } from './dockerfile.js';

const execute = promisify(execFile);

/**
 * Imitates `docker build` without an engine. Each stage is a folder. COPY copies files, and RUN runs in the folder with Node and npm of
 * this machine. Users and file systems of the base image are missing.
 */
export class Image implements AsyncDisposable {
  readonly environment: Record<string, string> = {};
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];

  private constructor(
    private readonly scratch: string,
    /** The working directory of the last stage. */
    readonly dir: string,
  ) {}

  /** Builds from the tracked files of this checkout. */
  static async build(dockerfile: string): Promise<Image> {
    const scratch = await mkdtemp(join(tmpdir(), 'singleton-job-image-'));
    try {
      await exportTrackedFiles(join(scratch, 'context'));
      const stages = readDockerfile(dockerfile);
      const image = new Image(scratch, join(scratch, `stage-${stages.length - 1}`));
      for (const [index, stage] of stages.entries()) await image.#run(stage, join(scratch, `stage-${index}`), stages);
      return image;
    } catch (error: unknown) {
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
  }

  async #run(stage: Stage, dir: string, stages: readonly Stage[]): Promise<void> {
    await mkdir(dir, { recursive: true });
    for (const instruction of stage.instructions) await this.#follow(instruction, dir, stages);
  }

  async #follow({ name, rest }: Instruction, dir: string, stages: readonly Stage[]): Promise<void> {
    switch (name) {
      case 'COPY':
        await this.#copy(rest, dir, stages);
        return;
      case 'RUN':
        await execute('sh', ['-c', rest], { cwd: dir, env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } });
        return;
      case 'ENV': {
        const [key = '', value = ''] = rest.split('=');
        this.environment[key] = value.replace(/^\/tmp/, this.scratch);
        return;
      }
      case 'CMD':
        this.command = execForm(rest) ?? [];
        return;
      case 'HEALTHCHECK':
        this.healthCheck = execForm(rest.replace(/^.*?CMD /, '')) ?? [];
        return;
      case 'WORKDIR':
      case 'USER':
        return;
      default:
        throw new Error(`the replay knows no ${name}`);
    }
  }

  async #copy(rest: string, dir: string, stages: readonly Stage[]): Promise<void> {
    const words = rest.split(/\s+/);
    const alias = words[0]?.startsWith('--from=') === true ? words.shift()?.slice('--from='.length) : undefined;
    const stage = stages.findIndex((candidate) => candidate.alias === alias);
    const origin = alias === undefined ? join(this.scratch, 'context') : join(this.scratch, `stage-${stage}`);
    const target = words.pop() ?? '';
    for (const word of words) {
      const source = join(origin, word.replace(/^\/app\//, ''));
      await cp(source, join(dir, target, target.endsWith('/') ? basename(word) : ''), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
}

async function exportTrackedFiles(context: string): Promise<void> {
  const { stdout } = await execute('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 10_000_000 });
  for (const path of stdout.split('\0').filter(Boolean)) await cp(join(ROOT, path), join(context, path));
}
