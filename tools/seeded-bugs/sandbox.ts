import { transform } from '@swc/core';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from '../workspace/paths.js';
import { applyEdit } from './apply-edit.js';
import { type Bug } from './bug.js';

const LIBRARY = 'libs/singleton-job/src';
/** All that a story is made of. */
const FOLDERS = [LIBRARY, 'test/simulation', 'test/support'];
const FOLDER = join(ROOT, '.cache/seeded-bugs');

/** The program that plays seeds, relative to the workspace. */
const PLAYER = 'tools/seeded-bugs/player.ts';

/** Copies of the simulation in `.cache`, compiled for plain Node.js, each with a library of its own. */
export class Sandboxes {
  private constructor(private readonly folder: string) {}

  /** `name` keeps those of two programs apart that run at the same time. */
  static async make(name: string): Promise<Sandboxes> {
    const folder = join(FOLDER, name);
    await rm(folder, { recursive: true, force: true });
    const sandboxes = new Sandboxes(folder);
    await Promise.all((await sourceFiles()).map((path) => compile(path, sandboxes.sound)));
    return sandboxes;
  }

  /** The library as it is. */
  get sound(): string {
    return join(this.folder, 'sound');
  }

  /** The library with a mistake in it. */
  async spoil({ name, edits }: Bug): Promise<string> {
    const spoilt = new Map<string, string>();
    for (const edit of edits) {
      const path = `${LIBRARY}/${edit.file}`;
      spoilt.set(path, applyEdit(spoilt.get(path) ?? (await readFile(join(ROOT, path), 'utf8')), edit));
    }
    const folder = join(this.folder, name);
    await cp(this.sound, folder, { recursive: true });
    for (const [path, text] of spoilt) await compile(path, folder, text);
    return folder;
  }

  /** The program that plays seeds, in the copy that lies in `sandbox`. */
  static playerIn(sandbox: string): string {
    return join(sandbox, PLAYER.replace(/\.ts$/, '.js'));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function compile(path: string, folder: string, source?: string): Promise<void> {
  const { code } = await transform(source ?? (await readFile(join(ROOT, path), 'utf8')), {
    filename: path,
    configFile: false,
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
    },
    module: { type: 'es6' },
  });
  const target = join(folder, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

async function sourceFiles(): Promise<string[]> {
  const found = await Promise.all(
    FOLDERS.map(async (folder) => {
      const files = await readdir(join(ROOT, folder), { recursive: true });
      return files.map((file) => `${folder}/${file}`);
    }),
  );
  return [PLAYER, ...found.flat().filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))];
}
