import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../tools/workspace/paths.js';

const PROMISES = 'test/processes/promises.spec.ts';
const FAULTS = 'test/proof/faults';

/** Prints what shows each promise of the README on real processes, and each fault, from the titles of the tests. */
export function printClaims(): void {
  console.log(`Promises, on real processes (${PROMISES})\n`);
  const shown = titlesIn(PROMISES).flatMap((title) => {
    const [, promises, rule] = /^((?:P\d+(?:, )?)+): (.+)$/.exec(title) ?? [];
    return promises?.split(', ').map((promise) => ({ promise, rule })) ?? [];
  });
  for (const { promise, rule } of shown.sort((a, b) => a.promise.localeCompare(b.promise))) {
    console.log(`  ${promise}  ${rule ?? ''}`);
  }
  for (const file of readdirSync(join(ROOT, FAULTS)).filter((name) => name.endsWith('.spec.ts'))) {
    console.log(`\n${basename(file, '.spec.ts').replaceAll('-', ' ')} (${join(FAULTS, file)})\n`);
    for (const title of titlesIn(join(FAULTS, file))) console.log(`  ${title}`);
  }
}

/** The title of each test, after those of the blocks that it is in. */
function titlesIn(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node, blocks: readonly string[]): void => {
    const called = ts.isCallExpression(node) ? /^(describe|it)\b/.exec(node.expression.getText(file))?.[1] : undefined;
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (called === undefined || title === undefined || !ts.isStringLiteralLike(title)) {
      ts.forEachChild(node, (child) => {
        visit(child, blocks);
      });
      return;
    }
    if (called === 'it') titles.push(path === PROMISES ? title.text : [...blocks, title.text].join(' '));
    const inside = called === 'describe' ? [...blocks, title.text] : blocks;
    ts.forEachChild(node, (child) => {
      visit(child, inside);
    });
  };
  visit(file, []);
  return titles;
}
