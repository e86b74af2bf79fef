import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('each promise of the README has a test on real processes', () => {
  const [promises = ''] = /## Promises\n[^]*?(?=Not promised)/.exec(read('README.md')) ?? [];
  const numbers = [...promises.matchAll(/^(\d+)\. \*\*/gm)].map(([, number = '']) => `P${number}`);
  const shown = new Set(read('test/processes/promises.spec.ts').match(/\bP\d+(?=[,:])/g));
  expect(numbers.length).toBeGreaterThan(5);
  expect(numbers.filter((number) => !shown.has(number))).toEqual([]);
});
