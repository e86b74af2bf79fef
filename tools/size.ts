import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './workspace/paths.js';

/** `npx tsx tools/size.ts`: lines of TypeScript code by folder, without comments, blank lines and imports. */
const SRC = 'libs/singleton-job/src';

const sizes = ['libs', 'apps', 'test', 'tools', 'bench']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.ts') && !/node_modules|dist/.test(name))
  .map((name) => ({ name, lines: codeLines(name), isSpec: name.startsWith(SRC) && name.endsWith('.spec.ts') }));

const folders = readdirSync(join(ROOT, SRC), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join(SRC, name, '/'));

const testing = join(SRC, 'testing/');
const sums = {
  'library without testing/': ({ name, isSpec }: Size) => name.startsWith(SRC) && !isSpec && !name.startsWith(testing),
  'testing/': ({ name, isSpec }: Size) => name.startsWith(testing) && !isSpec,
  'specs beside the library': ({ isSpec }: Size) => isSpec,
  'test/': ({ name }: Size) => name.startsWith('test/'),
  'tools/': ({ name }: Size) => name.startsWith('tools/'),
  'apps/': ({ name }: Size) => name.startsWith('apps/'),
  'bench/': ({ name }: Size) => name.startsWith('bench/'),
  'everything that tests': ({ name, isSpec }: Size) =>
    isSpec || [testing, 'test/', 'tools/'].some((folder) => name.startsWith(folder)),
};

for (const folder of folders) row(folder, ({ name, isSpec }) => name.startsWith(folder) && !isSpec);
console.log();
for (const [label, isIn] of Object.entries(sums)) row(label, isIn);

type Size = (typeof sizes)[number];

function row(label: string, isIn: (size: Size) => boolean): void {
  const counted = sizes.filter(isIn);
  const lines = counted.reduce((sum, size) => sum + size.lines, 0);
  console.log(`${label.padEnd(42)}${String(counted.length).padStart(5)} files${String(lines).padStart(8)} lines`);
}

/** The lines with at least one token. */
function codeLines(name: string): number {
  const file = ts.createSourceFile(name, readFileSync(join(ROOT, name), 'utf8'), ts.ScriptTarget.Latest, true);
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
