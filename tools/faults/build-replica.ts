import { transformFile } from '@swc/core';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../workspace/paths.js';

const SOURCES = ['libs/singleton-job/src', 'test/faults/replica'];
const MAIN = 'test/faults/replica/main.js';
const BUILDS = join(ROOT, '.cache/replicas');
const FORGET_AFTER_MS = 60 * 60 * 1_000;

/**
 * Compiles the replica and the library's sources, and answers where its entry is. A build is named by what it was made
 * of: the same sources are compiled once, and a build in use is never written to.
 */
export async function buildReplica(): Promise<string> {
  const files = (await Promise.all(SOURCES.map(listed))).flat().filter((file) => !file.endsWith('.spec.ts'));
  const build = join(BUILDS, await fingerprint(files));
  if (existsSync(build)) return join(build, MAIN);
  await mkdir(BUILDS, { recursive: true });
  const fresh = await mkdtemp(join(BUILDS, 'new-'));
  await Promise.all(files.map((file) => compile(file, fresh)));
  // whoever was faster made the same
  await rename(fresh, build).catch(() => rm(fresh, { recursive: true, force: true }));
  await forgetOld();
  return join(build, MAIN);
}

async function listed(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

async function fingerprint(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

async function compile(file: string, into: string): Promise<void> {
  const { code } = await transformFile(join(ROOT, file), {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
      keepClassNames: true,
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  });
  const target = join(into, file.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

async function forgetOld(): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    const { mtimeMs } = await stat(join(BUILDS, name)).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - FORGET_AFTER_MS) await rm(join(BUILDS, name), { recursive: true, force: true });
  }
}
