import { expect, it } from '@jest/globals';
import { instant } from '../base/time/clock.js';
import { ManualClock } from '../testing/manual-clock.js';
import { RecordView } from './record-view.js';
import { type JobRecord } from './record.js';
import { StoreView } from './store-view.js';

const HELD = { holder: 'b.1@10000#1', fencingToken: 5 };
const RELEASED = { fencingToken: 5 };

function newView(): RecordView {
  const clock = new ManualClock();
  return new RecordView({ clock, storeView: new StoreView('a', clock) });
}

it.each<[string, string | undefined, (JobRecord | undefined)[]]>([
  ['whose lease has ended', 'b', [HELD]],
  ['whose record is gone', 'b', [HELD, undefined]],
  ['whose record is gone, and there is one again for a pause', 'b', [HELD, undefined, { pause: { at: 1 } }]],
  ['but not one that released', undefined, [HELD, RELEASED, undefined]],
])('A new leader finds the last one %s', (_which, lostLeader, values) => {
  const observed = newView();
  for (const [revision, value] of values.entries()) observed.observe({ revision, value }, revision);
  expect(observed.predecessor().lostLeader).toBe(lostLeader);
});

it('A new leader of a job that was only paused and resumed finds that no leader has released it', () => {
  const observed = newView();
  observed.observe({ revision: 1, value: { incarnation: 'memory/0' } }, 1);
  expect(observed.predecessor()).toMatchObject({ reason: 'free', leader: undefined });
});

it.each<[string, { times?: number[]; tokens?: (number | undefined)[]; others?: number[] }, number]>([
  ['follows that of the record', { tokens: [5, 70] }, 71],
  ['follows the largest one that the record had', { tokens: [70, 5, undefined] }, 71],
  ['follows that of another record, which this replica may have forgotten', { others: [70] }, 71],
  ['follows each time of the store, whose clock may have been ahead', { times: [70, 6] }, 71],
  ['is the time of the store at least', { times: [70] }, 80],
  ['does not follow a number in another record that is no time', { others: [9e15] }, 16],
])('The next fencing token %s', (_which, { times = [6], tokens = [], others = [] }, next) => {
  const clock = new ManualClock();
  const storeView = new StoreView('a', clock);
  const [observed, other] = [new RecordView({ storeView } as never), new RecordView({ storeView } as never)];
  const incarnation = { id: 'memory/0', since: 0, isFirst: true };
  for (const time of times) storeView.observe({ time, incarnation, leases: new Map(), records: [] }, instant(clock));
  for (const [i, fencingToken] of tokens.entries())
    observed.observe({ revision: i, value: fencingToken === undefined ? undefined : { fencingToken } }, i);
  for (const fencingToken of others) other.observe({ revision: 1, value: { fencingToken } }, 1);
  void clock.block(10);
  expect(observed.nextFencingToken()).toBe(next);
});

it('A record that can be read again has not changed since it was first seen', () => {
  const observed = newView();
  observed.observe({ revision: 0, value: undefined, isUnreadable: true }, 1);
  observed.observe({ revision: 5, value: RELEASED }, 2);
  expect(observed.last.isUnchanged).toBe(true);
  observed.observe({ revision: 6, value: RELEASED }, 3);
  expect(observed.last.isUnchanged).toBe(false);
});

it('A new leader finds one that was lost also behind a take of its own whose answer was lost', () => {
  const observed = newView();
  observed.termEnded({ fencingToken: 3, fields: {} });
  observed.observe({ revision: 5, value: HELD }, 1);
  observed.observe({ revision: 6, value: { holder: 'a.1@10000#9', fencingToken: 6 } }, 2);
  expect(observed.predecessor().lostLeader).toBe('a');
});
