import { describe, expect, it } from '@jest/globals';
import { errorsInSamples } from '../support/compile-samples.js';
import { GUIDE, readPage } from '../support/pages.js';

describe('the samples of the guide', () => {
  it('compile when pasted: each is a whole file', () => {
    expect(errorsInSamples(new Map(GUIDE.map((page) => [page, readPage(page)])))).toEqual([]);
  });

  it('are read by the compiler, and import each other by name', () => {
    const page = [
      '```ts\n// prices.ts\nexport const price: number = 5;\n```\n',
      "```ts\nimport { price } from './prices.js';\nexport const text: string = price;\n```\n",
    ].join('\n');
    expect(errorsInSamples(new Map([['docs/page.md', page]]))).toEqual([
      "test/docs/samples/docs/page.md/line-7.ts:2 Type 'number' is not assignable to type 'string'.",
    ]);
  });
});
