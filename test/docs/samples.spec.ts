import { expect, it } from '@jest/globals';
import { errorsInSamples } from '../support/compile-samples.js';
import { GUIDE, readPage } from '../support/pages.js';

/** Its second sample imports the first one, and has the only mistake. */
const WRONG_PAGE = [
  '```ts\n// prices.ts\nexport const price: number = 5;\n```\n',
  "```ts\nimport { price } from './prices.js';\nexport const text: string = price;\n```\n",
].join('\n');

it('The samples of the guide compile when pasted: each is a whole file', () => {
  const pages = GUIDE.map((page): [string, string] => [page, readPage(page)]);
  expect(errorsInSamples(new Map([...pages, ['docs/page.md', WRONG_PAGE]]))).toEqual([
    "test/docs/samples/docs/page.md/line-7.ts:2 Type 'number' is not assignable to type 'string'.",
  ]);
});
