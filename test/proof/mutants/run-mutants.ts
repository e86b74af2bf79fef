import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../../../tools/workspace/command.js';
import { ROOT } from '../../../tools/workspace/paths.js';
import { type Check, type Mutant, MUTANTS } from './mutants.js';

/** The folder of the mutants: a copy of everything that the checks need. */
const COPY = join(ROOT, '.cache/mutants');
const SOURCES = 'libs/singleton-job/src';
const COPIED = ['libs', 'apps', 'test', 'tools', 'bench', 'jest.config.mjs', 'tsconfig.json', 'package.json'];

const jest = (project: string, paths: string): readonly string[] => [
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...['--bail', '--testTimeout=20000', '--forceExit', '--selectProjects', project, '--testPathPatterns', paths],
];

/** Arguments of node. */
const CHECKS: Readonly<Record<Check, readonly string[]>> = {
  simulation: ['--import', 'tsx', 'test/proof/simulate.ts', '--seeds', '500'],
  'store contract': jest('contract', 'in-memory-lock-store'),
  'Redis contract': jest('contract', 'redis-lock-store|redis-faults'),
  'unit specs': jest('unit', 'src/(leadership|heartbeat-thread)/'),
};

/** Runs the checks of every mutant, which must all fail. Returns how many mutants were noticed by all their checks, and how many not. */
export async function runMutants(): Promise<{ readonly passed: number; readonly failed: number }> {
  await checkMutants();
  await copyWorkspace();
  for (const check of new Set(MUTANTS.flatMap(({ checks }) => checks))) {
    const { isGood, output } = await carryOut(check);
    if (!isGood) throw new Error(`${check}: fails without any mutant\n${output.slice(-3_000)}`);
  }
  let passed = 0;
  for (const mutant of MUTANTS) {
    const missed: Check[] = [];
    const startedAtMs = performance.now();
    await mutate(mutant, async () => {
      for (const check of mutant.checks) if (!(await carryOut(check)).hasNoticed) missed.push(check);
    });
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    console.log(`${missed.length === 0 ? 'noticed' : `MISSED by ${missed.join(', ')}`}: ${mutant.name} (${seconds} s)`);
    if (missed.length === 0) passed += 1;
  }
  return { passed, failed: MUTANTS.length - passed };
}

/** @throws Error unless the library has the text of each mutant once */
export async function checkMutants(): Promise<void> {
  for (const mutant of MUTANTS) mutated(mutant, await readFile(join(ROOT, SOURCES, mutant.file), 'utf8'));
}

function mutated({ name, file, changes }: Mutant, original: string): string {
  let source = original;
  for (const [text, becomes] of changes) {
    const count = source.split(text).length - 1;
    if (count !== 1) throw new Error(`mutant '${name}': ${file} has its text ${count} times:\n${text}`);
    source = source.replace(text, () => becomes);
  }
  return source;
}

async function mutate(mutant: Mutant, check: () => Promise<void>): Promise<void> {
  const path = join(COPY, SOURCES, mutant.file);
  const original = await readFile(path, 'utf8');
  await writeFile(path, mutated(mutant, original));
  try {
    await check();
  } finally {
    await writeFile(path, original);
  }
}

async function carryOut(
  check: Check,
): Promise<{ readonly isGood: boolean; readonly hasNoticed: boolean; readonly output: string }> {
  const { code, output } = await attempt(process.execPath, CHECKS[check], { cwd: COPY, limitMs: 120_000 });
  // a check that crashes or does not end shows nothing
  const hasNoticed = code === 1 && /^Tests: .*\d failed|^\d+ stories, .*[1-9]\d* failures/m.test(output);
  return { isGood: code === 0, hasNoticed, output };
}

async function copyWorkspace(): Promise<void> {
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY, { recursive: true });
  const filter = (source: string): boolean => !source.endsWith('/node_modules') && !source.endsWith('/dist');
  for (const path of COPIED) await cp(join(ROOT, path), join(COPY, path), { recursive: true, filter });
  await symlink(join(ROOT, 'node_modules'), join(COPY, 'node_modules'));
}
