import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration, parseDuration, showDuration } from './duration.js';

describe('a duration', () => {
  it.each([
    [500, 500],
    ['500ms', 500],
    ['3s', 3_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    ['010ms', 10],
  ])('of %j is %d ms', (written, ms) => {
    expect(parseDuration(written)).toBe(ms);
  });

  it.each(['', ' ', '3', '3 s', ' 3s', '3S', '1.5s', '-1s', '+1s', '1e3ms', '3sec', '5min', 's', '9'.repeat(20) + 'd'])(
    'cannot be written %j',
    (written) => {
      expect(parseDuration(written)).toBeUndefined();
    },
  );

  it.each([Number.NaN, Infinity, 1.5, 2 ** 53, true, null, undefined, [5], { ms: 5 }, 5n])('is not %p', (value) => {
    expect(parseDuration(value)).toBeUndefined();
  });

  it('that is shown in a message is read back as the same duration', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
        const shown = formatDuration(ms);
        expect(parseDuration(shown.includes('.') ? ms : shown)).toBe(ms);
      }),
    );
  });

  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [1_500, '1.5s'],
    [9_000, '9s'],
    [90_000, '90s'],
    [300_000, '5m'],
    [86_400_000, '1d'],
  ])('of %d ms is shown as %s', (ms, shown) => {
    expect(formatDuration(ms)).toBe(shown);
  });

  it.each([
    [0, '0 ms'],
    [12.3, '12 ms'],
    [999.4, '999 ms'],
    [999.5, '1.0 s'],
    [3_249, '3.2 s'],
    [90_000, '90.0 s'],
  ])('of %d ms is shown as %s in log lines', (ms, shown) => {
    expect(showDuration(ms)).toBe(shown);
  });
});
