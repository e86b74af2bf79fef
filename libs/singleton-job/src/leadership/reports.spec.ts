import { expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { ABSENT, type JobRecord } from './record.js';
import { Reports } from './reports.js';

function eventsOf(term: object | undefined, ...records: readonly JobRecord[]): string[] {
  const events: string[] = [];
  const notify = (event: string): unknown => events.push(event);
  const reports = new Reports({ clock: new ManualClock(), notify, storeName: 'Redis', scheduleOf: () => undefined });
  const seen = [ABSENT, ...records.map((value, index) => ({ revision: 100 - index, value }))];
  for (const [index, before] of seen.slice(0, -1).entries())
    reports.seen({ name: 'tick:lock', term } as never, seen[index + 1] ?? ABSENT, before);
  return events;
}

it('A lease is renewed by an answer that names the term, not by one that ends it', () => {
  const term = { name: 'tick:lock', holder: 'a.1@10000#1', fencingToken: 7 };
  expect(eventsOf(term, { holder: term.holder }, { holder: 'b.1@10000#1' })).toEqual(['leaseRenewed']);
});

it('A pause is lost when an older record has none, not when it was resumed', () => {
  expect([eventsOf(undefined, { pausedAt: 100 }, {}), eventsOf(undefined, { pausedAt: 50 }, {})]).toEqual([
    ['warning'],
    [],
  ]);
});
