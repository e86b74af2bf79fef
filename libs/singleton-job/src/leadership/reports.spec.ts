import { expect, it } from '@jest/globals';
import { type Notify } from '../base/events/events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Reports } from './reports.js';

function reportsTo(notify: Notify): Reports {
  return new Reports({ clock: new ManualClock(), notify, storeName: 'Redis', scheduleOf: () => undefined });
}

it('An error of an election is a warning of its job', () => {
  const warnings: unknown[] = [];
  const error = new Error('wrong');
  reportsTo((_event, warning) => warnings.push(warning)).failed({ name: 'tick:job' } as never, error);
  expect(warnings).toMatchObject([{ code: 'RUNNER_FAILED', job: 'tick', error }]);
});

it.each([
  [7, 'data-lost'],
  [8, 'resumed'],
])('A pause of time 7 that a record of revision %s does not show is %s', (revision, reason) => {
  const reported: unknown[] = [];
  const reports = reportsTo((event, payload) => reported.push([event, Reflect.get(payload, 'reason')]));
  const election = { name: 'tick:job', candidate: {}, isWanted: true };
  reports.reconciled({ ...election, observed: { last: { revision: 7 } }, pausedAt: 7 } as never);
  reports.reconciled({ ...election, observed: { last: { revision } } } as never);
  expect(reported).toEqual([
    ['jobPaused', undefined],
    ['jobResumed', reason],
  ]);
});
