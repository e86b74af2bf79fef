import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../tools/workspace/paths.js';

const PAGE = join(ROOT, 'docs/failure-points.md');
const POINTS = 42;

const read = (file: string): string => readFileSync(file, 'utf8');

/** Every `[spec](path) “name of a test”` of the page. */
function testsNamed(): { readonly file: string; readonly name: string }[] {
  const found = [...read(PAGE).matchAll(/\[[\w-]+\]\(([^)]+)\) “([^”]+)”/g)];
  return found.map(([, path = '', name = '']) => ({ file: join(dirname(PAGE), path), name }));
}

describe('docs/failure-points.md', () => {
  it('has a row for every point, and each row names a test', () => {
    const rows = read(PAGE)
      .split('\n')
      .filter((line) => /^\| F\d+ \|/.test(line));
    expect(rows.map((row) => /F\d+/.exec(row)?.[0])).toEqual(Array.from({ length: POINTS }, (_, n) => `F${n + 1}`));
    expect(rows.filter((row) => !row.includes('“'))).toEqual([]);
  });

  it('names tests that there are', () => {
    const tests = testsNamed();
    expect(tests.length).toBeGreaterThan(2 * POINTS);
    const missing = tests.filter(({ file, name }) => !read(file).replaceAll("\\'", "'").includes(name));
    expect(missing.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });
});
