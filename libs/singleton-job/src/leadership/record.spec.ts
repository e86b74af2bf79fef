import { describe, expect, it } from '@jest/globals';
import { ABSENT, observedRecord } from './record.js';

const seen = (value: unknown) => observedRecord({ revision: 7, value: JSON.stringify(value) });

describe('a record', () => {
  it.each([
    [{}],
    [{ holder: 'web-1-3b0ab314.1@10000#17', run: { startedAt: 1, by: 'web' }, other: null }],
    [{ command: { id: 'c1', action: 'of a later version', until: 5 }, handover: { at: 1, to: 'b' } }],
    [{ lastScheduledAt: -5 }],
  ])('is %j as it is written', (value) => {
    expect(seen(value)).toEqual({ revision: 7, value });
  });

  it.each([
    null,
    [],
    5,
    { holder: null },
    { holder: 'somebody#1' },
    { holder: 'a.1@ten#1' },
    { holder: 'a.1@999999999#1' },
    { fencingToken: 'x' },
    { incarnation: 5 },
    { schedule: null },
    { lastScheduledAt: 1e300 },
    { lastScheduledAt: 8.64e15 },
    { run: null },
    { run: {} },
    { run: { startedAt: 1, by: 'a', endedAt: 0.5 } },
    { pause: null },
    { pause: { at: 'yesterday' } },
    { pause: { at: 1, until: 0.5 } },
    { pause: { at: 1, reason: 5 } },
    { command: 5 },
    { command: { id: 'c1' } },
    { handover: [] },
    { commandedIn: 5 },
  ])('cannot be read if another program wrote %j', (value) => {
    expect(seen(value)).toEqual({ ...ABSENT, isUnreadable: true });
  });

  it.each([2 ** 53, 0.5, NaN, 'abc'])('cannot be read at revision %p', (revision) => {
    expect(observedRecord({ revision: revision as number, value: '{}' })).toEqual({ ...ABSENT, isUnreadable: true });
  });
});
