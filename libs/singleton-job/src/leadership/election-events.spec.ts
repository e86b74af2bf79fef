import { describe, expect, it } from '@jest/globals';
import { type Notify } from '../base/events/events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ElectionEvents } from './election-events.js';
import { Outages } from './outages.js';
import { ABSENT, type Pause } from './record.js';
import { StoreView } from './store-view.js';

function eventsTo(notify: Notify): ElectionEvents {
  const clock = new ManualClock();
  const storeView = new StoreView('a', clock);
  return new ElectionEvents({ name: 'tick:job' } as never, {
    notify,
    outages: new Outages(clock, notify),
    storeName: 'Redis',
    storeView,
  });
}

it('An error of an election is a warning of its job', () => {
  const warnings: unknown[] = [];
  const error = new Error('wrong');
  eventsTo((_event, warning) => warnings.push(warning)).failed(error);
  expect(warnings).toMatchObject([{ code: 'RUNNER_FAILED', job: 'tick', error }]);
});

describe('A pause of time 7', () => {
  const CHANGED = { until: 9, reason: 'a migration' };
  const SHOWN = { pausedUntil: new Date(9), pauseReason: 'a migration' };
  const shown = { scope: 'job', pausedAt: new Date(7) };
  const paused = (rest: object = {}) => ['jobPaused', { job: 'tick', ...shown, ...rest }];
  const resumed = (reason: string) => ['jobResumed', { job: 'tick', ...shown, reason }];

  it('goes on while its record cannot be read', () => {
    const reported: unknown[] = [];
    const events = eventsTo((event, payload) => reported.push([event, payload]));
    events.pause('job', { revision: 7, value: {} }, { at: 7 });
    events.pause('job', { ...ABSENT, isUnreadable: true }, undefined);
    expect(reported).toEqual([paused()]);
  });

  it.each<[string, Pause | undefined, number, readonly unknown[]]>([
    ['is lost where the record is not newer', undefined, 7, [resumed('data-lost')]],
    ['was resumed where the record is newer', undefined, 8, [resumed('resumed')]],
    ['is told once', { at: 7 }, 8, []],
    ['is told again with another end and reason', { at: 7, ...CHANGED }, 8, [paused(SHOWN)]],
    ['is over when the next one is seen', { at: 8 }, 8, [resumed('resumed'), paused({ pausedAt: new Date(8) })]],
    ['is not over when an older record shows an older one', { at: 5 }, 6, [paused({ pausedAt: new Date(5) })]],
  ])('%s', (_, next, revision, told) => {
    const reported: unknown[] = [];
    const events = eventsTo((event, payload) => reported.push([event, payload]));
    events.pause('job', { revision: 7, value: {} }, { at: 7 });
    events.pause('job', { revision, value: {} }, next);
    expect(reported).toEqual([paused(), ...told]);
  });
});
