import { expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { type JobRecord } from './record.js';
import { Reports } from './reports.js';

/** What is reported of a record. */
function eventsOf(value: JobRecord, term?: object): string[] {
  const events: string[] = [];
  const notify = (event: string): unknown => events.push(event);
  const reports = new Reports({ clock: new ManualClock(), notify, storeName: 'Redis', scheduleOf: () => undefined });
  reports.seen({ name: 'tick:lock', term } as never, { revision: 99, value });
  return events;
}

it('A lease is renewed by an answer that names the term, not by one that ends it', () => {
  const term = { name: 'tick:lock', holder: 'a.1@10000#1', fencingToken: 7 };
  expect(eventsOf(term, term)).toEqual(['leaseRenewed']);
  expect(eventsOf({ holder: 'b.1@10000#1' }, term)).toEqual([]);
});
