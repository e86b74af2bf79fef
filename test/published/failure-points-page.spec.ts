import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../tools/workspace/paths.js';
import { testTitles } from '../support/test-titles.js';

const PAGE = join(ROOT, 'docs/failure-points.md');
const POINTS = Array.from({ length: 42 }, (_, index) => `F${String(index + 1)}`);

const page = readFileSync(PAGE, 'utf8');
/** The lines of each table. */
const tables = page.split('\n\n').flatMap((block) => (block.startsWith('| ') ? [block.split('\n')] : []));
/** The rows of the tables of failures. */
const rows = tables.flatMap(([header = '', , ...body]) => (header.endsWith('| shown by |') ? body : []));
const pathsIn = (text: string): string[] => [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) => path);
const fileOf = (path: string): string => join(dirname(PAGE), path);

/** Every `[spec](path) “title of a test”` of the page. */
const quotes = [...page.matchAll(/\[[\w-]+\]\(([^)]+)\) “([^”]+)”/g)].map(([, path = '', title = '']) => ({
  path,
  title,
}));

describe('docs/failure-points.md', () => {
  it('has a row for every point, in order', () => {
    expect(rows.flatMap((row) => /^\| (F\d+) \|/.exec(row)?.[1] ?? [])).toEqual(POINTS);
  });

  it('names in each row the tests that show it', () => {
    expect(rows.filter((row) => !row.includes('“'))).toEqual([]);
    expect(quotes).toHaveLength(page.split('“').length - 1);
  });

  it('links to files that there are', () => {
    expect(pathsIn(page).filter((path) => !existsSync(fileOf(path)))).toEqual([]);
  });

  it('quotes titles of tests of the file it names', () => {
    const titles = new Map(quotes.map(({ path }) => [path, testTitles(readFileSync(fileOf(path), 'utf8'))]));
    const wrong = quotes.filter(({ path, title }) => titles.get(path)?.has(title) !== true);
    expect(wrong.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  it('takes nothing for a title but titles, and what rows put into them', () => {
    const source = `
      // it('a comment')
      const ROWS = [{ name: 'a row', other: 'another text' }];
      const RULES: Rules = { 'a rule': () => undefined };
      describe.each(ROWS)('of $name', () => { it.concurrent('a test', () => { log('a text'); }); });
      it.each([['one way', 1]])(\`%s in \${COUNT} seeds\`, () => undefined);`;
    expect([...testTitles(source)]).toEqual(['a rule', 'of $name', 'a row', 'a test', '%s in … seeds', 'one way']);
  });
});
