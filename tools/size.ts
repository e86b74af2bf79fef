import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './workspace/paths.js';

/**
 * `npx tsx tools/size.ts` counts lines of TypeScript code (without comments, blank lines and imports), words of the
 * guide, and public names. It ends with 1 if a number is above its limit in `tools/size-limits.json`.
 */
const LIMITS = 'tools/size-limits.json';
const SRC = 'libs/singleton-job/src/';
const API = 'libs/singleton-job/api/';

const limits = JSON.parse(read(LIMITS)) as Record<string, number>;

const code = ['libs', 'apps', 'test', 'tools', 'bench']
  .flatMap(filesIn)
  .filter((name) => name.endsWith('.ts') && !/(^|\/)(node_modules|dist)\//.test(name))
  .map((name) => ({ name, lines: codeLines(name) }));

const isSpec = (name: string): boolean => name.startsWith(SRC) && name.endsWith('.spec.ts');
const isIn =
  (...folders: string[]) =>
  (name: string): boolean =>
    folders.some((folder) => name.startsWith(folder)) && !isSpec(name);
const isTesting = isIn(`${SRC}testing/`);
const layers = readdirSync(join(ROOT, SRC), { withFileTypes: true }).filter((entry) => entry.isDirectory());

/** The lines of the files that each number is about. */
const LINES: Readonly<Record<string, (name: string) => boolean>> = {
  ...Object.fromEntries(layers.map(({ name }) => [name, isIn(`${SRC}${name}/`)])),
  'library without testing/': (name) => isIn(SRC)(name) && !isTesting(name),
  'testing/': isTesting,
  'specs beside the library': isSpec,
  ...Object.fromEntries(['test/', 'tools/', 'apps/', 'bench/'].map((folder) => [folder, isIn(folder)])),
  'everything that tests': (name) => isSpec(name) || isTesting(name) || isIn('test/', 'tools/')(name),
};

for (const [label, isCounted] of Object.entries(LINES)) {
  const counted = code.filter(({ name }) => isCounted(name));
  check(
    `${label.padEnd(26)}${String(counted.length).padStart(4)} files`,
    label,
    counted.reduce((sum, { lines }) => sum + lines, 0),
  );
}
const pages = filesIn('docs').filter((name) => name.endsWith('.md') && !name.startsWith('docs/adr/'));
check(
  'words in docs/ without docs/adr/',
  'docs/ without docs/adr/',
  pages.map(read).join(' ').match(/\S+/g)?.length ?? 0,
);
for (const report of filesIn(API)) {
  const label = `entry point ${report.slice(API.length, -'.api.md'.length)}`;
  // the overloads of a function are one name
  const names = new Set(read(report).match(/^export (abstract )?\S+ \w+/gm));
  check(`names of ${label}`, label, names.size, limits[label] ?? 0);
}

function check(shown: string, label: string, count: number, limit = limits[label]): void {
  console.log(
    `${shown.padEnd(42)}${String(count).padStart(6)}${limit === undefined ? '' : `   limit ${String(limit)}`}`,
  );
  if (limit === undefined || count <= limit) return;
  process.exitCode = 1;
  const fix = `Take that much away. If a mechanism is worth it, raise the limit in ${LIMITS} in a commit that names it`;
  console.error(`${label}: ${String(count - limit)} above its limit. ${fix}`);
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
