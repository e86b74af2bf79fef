import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { attempt } from './command.js';
import { type Counts, total } from './counts.js';
import { ROOT } from './paths.js';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(ROOT, 'node_modules/jest/bin/jest.js'),
];

interface Group {
  readonly projects: readonly string[];
  /** How many specs run side by side. */
  readonly workers: number;
}

/** What runs together, one group after the other. */
const GROUPS: readonly Group[] = [
  // these compute, nearly without a pause
  { projects: ['unit', 'docs', 'types'], workers: availableParallelism() },
  // these mostly wait
  { projects: ['contract', 'integration', 'processes'], workers: 3 },
  { projects: ['proof'], workers: 3 },
];

/**
 * Runs the tests that `args`, passed on to jest, choose, in these projects of jest.config.mjs: all but the proof, if none is
 * named. Never rejects for a failing test.
 */
export async function runTests(args: readonly string[], projects?: readonly string[]): Promise<Counts> {
  const runs: Counts[] = [];
  for (const group of GROUPS) {
    const chosen = group.projects.filter((project) => projects?.includes(project) ?? project !== 'proof');
    if (chosen.length === 0) continue;
    const selection = [`--maxWorkers=${String(group.workers)}`, '--selectProjects', ...chosen];
    runs.push(await runJest([...args, ...selection]));
  }
  return total(runs);
}

interface JestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  /** Files that broke before their first test. */
  readonly numRuntimeErrorTestSuites: number;
}

async function runJest(args: readonly string[]): Promise<Counts> {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.cache/jest-'));
  try {
    const file = join(folder, 'results.json');
    const jest = [...JEST, '--passWithNoTests', '--json', `--outputFile=${file}`, ...args];
    const { code } = await attempt(process.execPath, jest, { isShown: true });
    const results = await readFile(file, 'utf8').catch(() => undefined);
    return counts(results, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function counts(results: string | undefined, code: number | undefined): Counts {
  if (results === undefined) return { passed: 0, failed: code === 0 ? 0 : 1 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(results) as JestResults;
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  // any other failure of jest, such as in a global set-up, counts as one
  return { passed: numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}
