import { expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { RecordView } from './record-view.js';
import { type JobRecord } from './record.js';
import { View } from './view.js';

const HELD = { holder: 'b.1@10000#1', fencingToken: 5 };
const RELEASED = { fencingToken: 5 };

it.each<[string, string | undefined, (JobRecord | undefined)[]]>([
  ['whose lease has ended', 'b', [HELD]],
  ['whose record is gone', 'b', [HELD, undefined]],
  ['whose record is gone, and there is one again for a pause', 'b', [HELD, undefined, { pausedAt: 1 }]],
  ['but not one that released', undefined, [HELD, RELEASED, undefined]],
])('A new leader finds the last one %s', (_which, lostLeader, values) => {
  const clock = new ManualClock();
  const seen = new RecordView({ clock, view: new View('a', clock) } as never);
  for (const [revision, value] of values.entries()) seen.learn({ revision, value }, revision);
  expect(seen.backlog().lostLeader).toBe(lostLeader);
});

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
