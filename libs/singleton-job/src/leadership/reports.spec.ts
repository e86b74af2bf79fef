import { expect, it } from '@jest/globals';
import { type Notify } from '../base/events/events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { type JobRecord } from './record.js';
import { Reports } from './reports.js';

function reportsTo(notify: Notify): Reports {
  return new Reports({ clock: new ManualClock(), notify, storeName: 'Redis', scheduleOf: () => undefined });
}

/** What is reported of a record. */
function eventsOf(value: JobRecord, term?: object): string[] {
  const events: string[] = [];
  const reports = reportsTo((event) => events.push(event));
  reports.seen({ name: 'tick:lock', term } as never, { revision: 99, value });
  return events;
}

it('A lease is renewed by an answer that names the term, not by one that ends it', () => {
  const term = { name: 'tick:lock', holder: 'a.1@10000#1', fencingToken: 7 };
  expect(eventsOf(term, term)).toEqual(['leaseRenewed']);
  expect(eventsOf({ holder: 'b.1@10000#1' }, term)).toEqual([]);
});

it('An error of an election is a warning of its job', () => {
  const warnings: unknown[] = [];
  const error = new Error('wrong');
  reportsTo((_event, warning) => warnings.push(warning)).failed({ name: 'tick:lock' } as never, error);
  expect(warnings).toMatchObject([{ code: 'RUNNER_FAILED', job: 'tick', error }]);
});
