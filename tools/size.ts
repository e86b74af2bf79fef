import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { overLimits } from './workspace/limits.js';
import { ROOT } from './workspace/paths.js';

/**
 * `npx tsx tools/size.ts` counts lines of TypeScript code (without comments, blank lines and imports), words of the guide, and public names.
 * It ends with 1 if a number is above its limit in `tools/size-limits.json`.
 */
const SRC = 'libs/singleton-job/src';
const API = 'libs/singleton-job/api';
const TESTING = join(SRC, 'testing/');

const limits = JSON.parse(read('tools/size-limits.json')) as Record<string, number>;
const counted: Record<string, number> = {};

const sources = ['libs', 'apps', 'test', 'tools', 'bench']
  .flatMap(filesIn)
  .filter((name) => name.endsWith('.ts') && !/(^|\/)(node_modules|dist)\//.test(name))
  .map((name) => ({ name, count: codeLines(name), isSpec: name.startsWith(SRC) && name.endsWith('.spec.ts') }));
type Source = (typeof sources)[number];

const inFolder =
  (folder: string) =>
  ({ name, isSpec }: Source): boolean =>
    name.startsWith(folder) && !isSpec;

for (const { name } of readdirSync(join(ROOT, SRC), { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  show(join(SRC, name, '/'), sources.filter(inFolder(join(SRC, name, '/'))));
}
console.log();
limit(
  'library without testing/',
  sources.filter((source) => inFolder(SRC)(source) && !inFolder(TESTING)(source)),
);
limit('testing/', sources.filter(inFolder(TESTING)));
show(
  'specs beside the library',
  sources.filter(({ isSpec }) => isSpec),
);
show('test/', sources.filter(inFolder('test/')));
limit('tools/', sources.filter(inFolder('tools/')));
show('apps/', sources.filter(inFolder('apps/')));
limit('bench/', sources.filter(inFolder('bench/')));
const tests = [TESTING, 'test/', 'tools/'].map(inFolder);
limit(
  'everything that tests',
  sources.filter((source) => source.isSpec || tests.some((isIn) => isIn(source))),
);

const pages = filesIn('docs').filter((name) => name.endsWith('.md') && !name.startsWith('docs/adr/'));
limit(
  'docs/ without docs/adr/',
  pages.map((name) => ({ count: read(name).match(/\S+/g)?.length ?? 0 })),
  'words',
);
for (const report of filesIn(API)) {
  // the overloads of a function are one name
  const names = new Set(read(report).match(/^export (abstract )?\S+ \w+/gm));
  limit(`entry point ${report.slice(API.length + 1, -'.api.md'.length)}`, [{ count: names.size }], 'names');
}

const mistakes = overLimits(counted, limits);
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;

/** Shows a number that has a limit. */
function limit(label: string, parts: readonly { readonly count: number }[], unit?: string): void {
  counted[label] = show(label, parts, unit);
}

function show(label: string, parts: readonly { readonly count: number }[], unit = 'lines'): number {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const files = `${String(parts.length).padStart(5)} files`;
  const most = limits[label] === undefined ? '' : `   limit${String(limits[label]).padStart(7)}`;
  console.log(`${label.padEnd(42)}${files}${String(count).padStart(8)} ${unit}${most}`);
  return count;
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/** The lines with at least one token. */
function codeLines(name: string): number {
  const file = ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest, true);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isJSDoc(node) || node.getWidth(file) === 0) return;
    const children = node.getChildren(file);
    const [first, last] = [node.getStart(file), node.getEnd()].map((at) => file.getLineAndCharacterOfPosition(at).line);
    if (children.length === 0) for (let line = first ?? 0; line <= (last ?? 0); line++) lines.add(line);
    children.forEach(visit);
  };
  visit(file);
  return lines.size;
}
