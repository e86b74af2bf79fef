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
  // a missing snapshot fails; -u writes it
  '--ci',
];

interface Group {
  readonly projects: readonly string[];
  /** How many specs run side by side. */
  readonly workers: number;
}

/** What runs together, one group after the other. Faults run only where they are named. */
const GROUPS: readonly Group[] = [
  // these compute, nearly without a pause
  { projects: ['unit', 'docs', 'types', 'simulation'], workers: availableParallelism() },
  // these mostly wait
  { projects: ['contract', 'integration', 'processes'], workers: 4 },
  { projects: ['faults'], workers: 3 },
];

const TESTED = ['unit', 'docs', 'types', 'simulation', 'contract', 'integration', 'processes'];

/**
 * Runs the tests that `args`, passed on to jest, choose in some projects of jest.config.mjs. `--selectProjects` comes before `projects`.
 * Never rejects for a failing test.
 */
export async function runTests(args: readonly string[], projects: readonly string[] = TESTED): Promise<Counts> {
  const { others, named } = projectsIn(args);
  const wanted = named ?? projects;
  const runs: Counts[] = [];
  for (const group of GROUPS) {
    const chosen = group.projects.filter((project) => wanted.includes(project));
    if (chosen.length === 0) continue;
    const selection = [`--maxWorkers=${String(group.workers)}`, '--selectProjects', ...chosen];
    runs.push(await runJest([...others, ...selection]));
  }
  return total(runs);
}

/** Takes the projects out of the arguments of jest, which would add them to those of each group. */
function projectsIn(args: readonly string[]): {
  readonly others: readonly string[];
  readonly named?: readonly string[];
} {
  const at = args.indexOf('--selectProjects');
  if (at === -1) return { others: args };
  const rest = args.slice(at + 1);
  const end = rest.findIndex((arg) => arg.startsWith('-'));
  const named = end === -1 ? rest : rest.slice(0, end);
  return { others: [...args.slice(0, at), ...rest.slice(named.length)], named };
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
