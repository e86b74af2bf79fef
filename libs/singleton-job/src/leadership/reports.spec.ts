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
