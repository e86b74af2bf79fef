import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { MUTANTS } from './mutants/mutants.js';

interface Shown {
  readonly file: string;
  readonly title: string;
}

/** Prints what shows each promise of docs/guarantees.md and each fault: the titles of the tests, and the mutants. */
export async function printClaims(): Promise<void> {
  const tests = await titles();
  console.log('Promises, on real processes\n');
  const promised = tests.flatMap(({ title }) => {
    const [, promises, rule] = /((?:P\d+(?:, )?)+): (.+)$/.exec(title) ?? [];
    return promises?.split(', ').map((promise) => `  ${promise}  ${rule ?? ''}`) ?? [];
  });
  for (const line of promised.sort()) console.log(line);
  for (const file of new Set(tests.map((test) => test.file))) {
    if (!file.startsWith('test/proof/')) continue;
    console.log(`\n${file}\n`);
    for (const { title } of tests.filter((test) => test.file === file)) console.log(`  ${title}`);
  }
  console.log('\nMutants that the suites must notice\n');
  for (const { name, checks } of MUTANTS) console.log(`  ${name} (${checks.join(', ')})`);
}

interface JestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string }[];
  }[];
}

/** Every test of the proof and every promise. Jest loads the files and runs nothing. */
async function titles(): Promise<Shown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'claims-'));
  try {
    const file = join(folder, 'results.json');
    await run(process.execPath, [
      ...['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${file}`],
      ...[
        '--selectProjects',
        'processes',
        'proof',
        '--testPathPatterns',
        'test/proof|promises',
        '--testNamePattern',
        '^$',
      ],
    ]);
    const { testResults } = JSON.parse(await readFile(file, 'utf8')) as JestResults;
    return testResults
      .flatMap(({ name, assertionResults }) =>
        assertionResults.map(({ fullName }) => ({ file: relative(ROOT, name), title: fullName })),
      )
      .sort((a, b) => a.file.localeCompare(b.file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
