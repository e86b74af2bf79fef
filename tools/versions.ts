import { parseArgs } from 'node:util';
import { pack } from './packages/application.js';
import { VERSIONS } from './versions/versions.js';
import { attempt } from './workspace/command.js';

/**
 * `npm run versions [-- <name>…]`: the packed library on servers and runtimes of other versions, from npm and from
 * suites of Debian. Three processes run a job of each kind; one is stopped and one is killed. A server also passes
 * the contract of its store and its faults. Prints a line for each version.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const names = Object.keys(VERSIONS);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`no version ${unknown.join(', ')}: take some of ${names.join(', ')}`);

const tarball = await pack();
const results: string[] = [];
for (const name of positionals.length > 0 ? positionals : names) {
  const startedAtMs = performance.now();
  const args = ['--import', 'tsx', 'tools/versions/try-version.ts', name, tarball];
  const { code } = await attempt(process.execPath, args, { isShown: true });
  const seconds = Math.round((performance.now() - startedAtMs) / 1000);
  results.push(`${name.padEnd(18)}${code === 0 ? 'passed' : 'FAILED'} in ${String(seconds)} s`);
  if (code !== 0) process.exitCode = 1;
}
console.log(results.join('\n'));
