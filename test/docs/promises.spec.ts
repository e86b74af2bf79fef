import { expect, it } from '@jest/globals';
import { readPage as read } from '../support/pages.js';

it('each promise of the guide has a test on real processes', () => {
  const promises = [...read('docs/guarantees.md').matchAll(/^### (\d+)\. /gm)];
  const numbers = promises.map(([, number = '']) => `P${number}`);
  const tests = [...read('test/processes/promises.spec.ts').matchAll(/^ +it(?:\.concurrent)?\(\s*'(P[P\d, ]+): /gm)];
  const shown = new Set(tests.flatMap(([, titled = '']) => titled.split(', ')));
  expect(numbers.length).toBeGreaterThan(5);
  expect(numbers.filter((number) => !shown.has(number))).toEqual([]);
});
