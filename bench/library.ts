import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Builds and packs the library of a checkout and installs the tarball here, as an application would.
 * Usage: `npm run library [-- <checkout>]`; without an argument it takes the checkout that this folder belongs to.
 */
const checkout = resolve(import.meta.dirname, process.argv[2] ?? '..');
const installed = join(import.meta.dirname, 'node_modules/nestjs-singleton-job');

function run(cwd: string, command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

run(checkout, 'npm', 'run', 'pack');
const { version } = JSON.parse(readFileSync(join(checkout, 'libs/singleton-job/package.json'), 'utf8')) as {
  version: string;
};
rmSync(installed, { recursive: true, force: true });
const tarball = join(checkout, `dist/nestjs-singleton-job-${version}.tgz`);
run(import.meta.dirname, 'npm', 'install', '--no-save', '--prefer-offline', tarball);

// Every build has the same version, so each result names the last commit that changed the library.
const commit = run(checkout, 'git', 'log', '-1', '--format=%h', '--', 'libs');
const isChanged = run(checkout, 'git', 'status', '--porcelain', '--', 'libs') !== '';
const name = isChanged ? `${commit} with changes` : commit;
writeFileSync(join(installed, 'COMMIT'), name);
console.log(`installed the library of ${name}`);
