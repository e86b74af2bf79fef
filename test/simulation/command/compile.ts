import { transform } from '@swc/core';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from '../../../tools/workspace/paths.js';

/** The sources that a scenario needs, without specs. */
const SOURCES = ['libs/singleton-job/src', 'test/simulation'];
const CACHE = join(ROOT, '.cache/simulation');

/**
 * Compiles the simulation once for plain Node.js. That plays a scenario several times as fast as a program that compiles while it loads,
 * because names of functions are not kept and there is no sandbox of a test framework.
 * Returns the folder, which has the same paths as the workspace.
 */
export async function compileSimulation(): Promise<string> {
  const files = await Promise.all(
    (await sourceFiles()).map(async (path) => ({ path, text: await readFile(join(ROOT, path), 'utf8') })),
  );
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const folder = join(CACHE, hash);
  if (await exists(folder)) return folder;

  await mkdir(CACHE, { recursive: true });
  // another process may compile the same sources: both use the first result
  const draft = await mkdtemp(join(CACHE, 'draft-'));
  await Promise.all(files.map((file) => compile(file, draft)));
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}

async function compile(
  { path, text }: { readonly path: string; readonly text: string },
  folder: string,
): Promise<void> {
  const { code } = await transform(text, {
    filename: path,
    configFile: false,
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
    },
    module: { type: 'es6' },
    sourceMaps: false,
  });
  const target = join(folder, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

async function sourceFiles(): Promise<string[]> {
  const folders = await Promise.all(
    SOURCES.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((file) => `${folder}/${file}`),
    ),
  );
  return folders
    .flat()
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.endsWith('.d.ts'))
    .sort();
}

async function exists(folder: string): Promise<boolean> {
  return readdir(folder).then(
    () => true,
    () => false,
  );
}
