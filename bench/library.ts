import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm, run } from '../tools/workspace/command.js';

const BENCH = import.meta.dirname;
const INSTALLED = join(BENCH, 'node_modules/nestjs-singleton-job');

/** Builds and packs the library of a checkout and installs the tarball here, as an application would. */
export async function installLibrary(checkout: string): Promise<void> {
  await run(process.execPath, ['--import', 'tsx', 'tools/pack.ts'], { cwd: checkout });
  const manifest = await readFile(join(checkout, 'libs/singleton-job/package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  await rm(INSTALLED, { recursive: true, force: true });
  const tarball = join(checkout, `dist/nestjs-singleton-job-${version}.tgz`);
  await npm(['install', '--no-save', '--prefer-offline', tarball], { cwd: BENCH });

  // every build has the same version, so results name the last commit that changed the library
  const git = (...args: string[]): Promise<string> => run('git', args, { cwd: checkout });
  const commit = (await git('log', '-1', '--format=%h', '--', 'libs')).trim();
  const isChanged = (await git('status', '--porcelain', '--', 'libs')).trim() !== '';
  await writeFile(join(INSTALLED, 'COMMIT'), isChanged ? `${commit} with changes` : commit);
}

/** Which library is installed. */
export function installedLibrary(): Promise<string> {
  return readFile(join(INSTALLED, 'COMMIT'), 'utf8');
}

/** `npm run library [-- <checkout>]`; without an argument it takes the checkout that this folder belongs to. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installLibrary(resolve(BENCH, process.argv[2] ?? '..'));
  console.log(`installed the library of ${await installedLibrary()}`);
}
