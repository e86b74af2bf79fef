import { expect, it } from '@jest/globals';
import { type Notify } from '../base/events/events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ElectionEvents } from './election-events.js';
import { Outages } from './outages.js';

function eventsTo(notify: Notify): ElectionEvents {
  const outages = new Outages(new ManualClock(), notify);
  return new ElectionEvents({ name: 'tick:job' } as never, { notify, outages, storeName: 'Redis' });
}

it('An error of an election is a warning of its job', () => {
  const warnings: unknown[] = [];
  const error = new Error('wrong');
  eventsTo((_event, warning) => warnings.push(warning)).failed(error);
  expect(warnings).toMatchObject([{ code: 'RUNNER_FAILED', job: 'tick', error }]);
});

it.each([
  [7, 'data-lost'],
  [8, 'resumed'],
])('A pause of time 7 that a record of revision %s does not show is %s', (revision, reason) => {
  const reported: unknown[] = [];
  const events = eventsTo((event, payload) => reported.push([event, Reflect.get(payload, 'reason')]));
  events.status({ revision: 7, value: { pausedAt: 7 } }, false, undefined);
  events.status({ revision, value: undefined }, false, undefined);
  expect(reported).toEqual([
    ['jobPaused', undefined],
    ['jobResumed', reason],
  ]);
});
