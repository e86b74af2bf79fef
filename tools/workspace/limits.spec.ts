import { expect, it } from '@jest/globals';
import { overLimits } from './limits.js';

it('a number above its limit is a mistake, as is one without a limit or a limit without a number', () => {
  const limits = { 'tools/': 100, 'apps/': 100, 'old/': 100 };

  expect(overLimits({ 'tools/': 100, 'apps/': 103, 'new/': 5 }, limits)).toEqual([
    'apps/: must be at most 100, got 103, which is 3 above. Take that much away. ' +
      'If a mechanism is worth it, raise the limit in tools/size-limits.json in a commit that names it',
    'new/: must have a limit, got none. Add "new/": 5 to tools/size-limits.json',
    'old/: has a limit and is not counted. Remove the limit from tools/size-limits.json',
  ]);
});
