import { node, tool } from './workspace/command.js';
import { inWords, record } from './workspace/counts.js';
import { holds } from './workspace/holds.js';

/** All that must hold before a commit, in the order in which a mistake shows soonest. */
const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  format: () => node('prettier/bin/prettier.cjs', ['--check', '.']),
  lint: () => node('eslint/bin/eslint.js', ['.', '--max-warnings', '0']),
  types: () => node('typescript/bin/tsc', ['--noEmit']),
  size: () => tool('size.ts'),
  tests: () => tool('test.ts', [], { isShown: true }),
  docs: () => node('typedoc/bin/typedoc', []),
  build: () => tool('build.ts', ['worker', 'minimal']),
  package: () => tool('pack.ts'),
};

/** `npm run verify` stops at the first step that fails; `npm run verify -- --without tests package` leaves some out. */
const [flag, ...skipped] = process.argv.slice(2);
if (flag !== undefined && (flag !== '--without' || skipped.some((name) => STEPS[name] === undefined))) {
  throw new Error(`usage: npm run verify [-- --without ${Object.keys(STEPS).join('|')} …]`);
}

let passed = 0;
let failed = 0;
for (const [name, check] of Object.entries(STEPS)) {
  if (skipped.includes(name)) continue;
  if (await holds(name, check)) passed++;
  else failed++;
  if (failed > 0) break;
}
await record('verify', { passed, failed });
console.log(`verify: ${inWords({ passed, failed })}`);
if (failed > 0) process.exitCode = 1;
