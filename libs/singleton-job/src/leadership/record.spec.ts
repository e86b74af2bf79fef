import { describe, expect, it } from '@jest/globals';
import { ABSENT, seenRecord } from './record.js';

const seen = (value: unknown) => seenRecord({ revision: 7, value: JSON.stringify(value) });

describe('a record', () => {
  it.each([
    [{}],
    [{ holder: 'web-1-3b0ab314.1@10000#17', run: { startedAt: 1, by: 'web' }, command: { id: 'c1' }, other: null }],
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
    { run: null },
    { command: 5 },
    { moved: [] },
  ])('cannot be read if another program wrote %j', (value) => {
    expect(seen(value)).toEqual({ ...ABSENT, isUnreadable: true });
  });
});
