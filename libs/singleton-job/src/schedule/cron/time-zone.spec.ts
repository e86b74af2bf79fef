import { describe, expect, it } from '@jest/globals';

import { TimeZone } from './time-zone.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('a time zone', () => {
  it('sees both of two shifts within one week', () => {
    const zone = TimeZone.of('America/Recife');
    const from = Date.UTC(2000, 9, 1);
    const days = Array.from({ length: 22 }, (_, day) => zone.offsetAt(from + day * DAY_MS) / HOUR_MS);
    expect(days).toEqual([...Array<number>(8).fill(-3), ...Array<number>(7).fill(-2), ...Array<number>(7).fill(-3)]);
  });

  it('gives the same answer after any other calls', () => {
    const instants = Array.from({ length: 2_000 }, (_, n) => Date.UTC(2020, 0) + n * 5 * DAY_MS);
    const zone = TimeZone.of('Europe/London');
    const upwards = instants.map((at) => zone.offsetAt(at));
    const downwards = instants.toReversed().map((at) => zone.offsetAt(at));
    expect(downwards.toReversed()).toEqual(upwards);
  });

  it('corrects the case of a name, but keeps an old name', () => {
    expect(TimeZone.of('europe/LONDON').name).toBe('Europe/London');
    expect(TimeZone.of('Asia/Calcutta').name).toBe('Asia/Calcutta');
    expect(TimeZone.of('Asia/Kolkata').name).toBe('Asia/Kolkata');
  });
});
