import { expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { RecordView } from './record-view.js';
import { View } from './view.js';

it.each([
  ['follows that of the record', [5, 70], 71],
  ['follows the highest that was seen', [70, 5, undefined], 71],
  ['is the time of the store at least', [], 1_250],
])('The next fencing token %s', (_rule, tokens, next) => {
  const view = Object.assign(new View('a', new ManualClock()), { storeTime: tokens.length > 0 ? 6 : 1_250 });
  const seen = new RecordView({ view } as never);
  for (const [i, fencingToken] of tokens.entries())
    seen.learn({ revision: i + 1, value: fencingToken === undefined ? undefined : { fencingToken } }, i);
  expect(seen.nextFencingToken()).toBe(next);
});
