import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type ts from 'typescript';
import { Declarations } from './api/declarations.js';
import { eventsTable } from './api/events-table.js';
import { innerTypes, publicNames } from './api/report.js';
import { undocumented } from './api/undocumented.js';
import { LIBRARY, ROOT } from './workspace/paths.js';

/**
 * `npm run api` writes what is made from the public declarations: the list of all public names in `libs/singleton-job/api.md`, and
 * the table of events in `docs/observability.md`. With `-- --check` it changes nothing and ends with 1 if a file is out of date. It
 * also names each public name and field that has no docstring.
 */
const isCheck = process.argv.includes('--check');
const declarations = new Declarations();
const entryPoints = await readEntryPoints();
const all = entryPoints.flatMap(([, exported]) => [...exported.values()]);
await update('libs/singleton-job/api.md', () => apiReport());
await update('docs/observability.md', (page) =>
  replaceOnce(page, /(?<=\n## Events\n[^]*?)^\| event [^]*?\n\nAlso: .*/m, eventsTable(declarations)),
);

for (const name of undocumented(all, declarations)) {
  console.log(`${name} has no docstring`);
  process.exitCode = 1;
}

async function readEntryPoints(): Promise<[string, ReadonlyMap<string, ts.Symbol>][]> {
  const { exports } = JSON.parse(await readFile(join(LIBRARY, 'package.json'), 'utf8')) as { exports: object };
  const paths = Object.keys(exports).filter((path) => path !== './package.json');
  return paths.map((path) => [join('nestjs-singleton-job', path), declarations.exportsOf(join(path, 'index.ts'))]);
}

async function apiReport(): Promise<string> {
  const report = [
    '# Public API\n\nEvery public name of the package, written by `npm run api`. A change of this file is a change for users.\n',
    ...entryPoints.map(([name, exported]) => publicNames(name, exported)),
    innerTypes(all, declarations),
  ].join('\n');
  return format(report, { ...(await resolveConfig(join(ROOT, 'api.md'))), parser: 'markdown' });
}

async function update(path: string, change: (text: string) => string | Promise<string>): Promise<void> {
  const file = join(ROOT, path);
  const before = await readFile(file, 'utf8').catch(() => '');
  const after = await change(before);
  if (before === after) return;
  if (!isCheck) await writeFile(file, after);
  else process.exitCode = 1;
  console.log(isCheck ? `${path} is out of date: run \`npm run api\` and review what changed` : `wrote ${path}`);
}

function replaceOnce(page: string, table: RegExp, becomes: string): string {
  if (!table.test(page)) throw new Error('docs/observability.md has no table of events below "## Events"');
  return page.replace(table, () => becomes);
}
