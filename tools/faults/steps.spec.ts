import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { exchange, grant, historyFrom, type Line, record } from '../../test/support/made-up-record.js';
import { refusalsIn } from './steps.js';
import { type Exchange } from './wires.js';

const JOB = { job: 'cron' };
const claim = (atMs: number, process: string, at: number): Exchange =>
  exchange('claim', atMs, { ...JOB, process, words: ['claimed', String(at), String(atMs)] });
const run = (atMs: number, replica: string): Line => ({ ...JOB, event: 'runBegan', replica, scheduledAt: 1_000, atMs });
const ended: Line = { ...JOB, event: 'runEnded', atMs: 1_020 };

/** `a1` starts the occurrence of second 1, and `b1` does so later. */
function isStartedTwice(lines: readonly Line[], exchanges: readonly Exchange[] = []): boolean {
  const lived = record(run(1_010, 'a1'), ended, ...lines, run(3_000, 'b1'));
  const before = [grant(900, 'a1', JOB), claim(1_005, 'a1', 1_000)];
  const history = historyFrom(lived, [...before, ...exchanges, grant(2_500, 'b1', JOB), claim(2_990, 'b1', 1_000)]);
  return check(history).some(({ rule }) => rule === 'started-twice');
}

describe('What Redis was told of an occurrence, as the wires show it,', () => {
  const forgot: Line = { event: 'forgot', replica: '', job: undefined, kind: 'data-loss', atMs: 1_500 };

  it('excuses a second start if Redis has lost it, and not otherwise', () => {
    expect(isStartedTwice([])).toBe(true);
    expect(isStartedTwice([forgot])).toBe(false);
    expect(isStartedTwice([{ ...forgot, kind: 'fall-back', sinceMs: 1_100 }])).toBe(true);
    expect(isStartedTwice([{ ...forgot, kind: 'fall-back', sinceMs: 1_000 }])).toBe(false);
  });

  it('excuses none if somebody who knew of it has told it again', () => {
    expect(isStartedTwice([forgot], [claim(2_000, 'a1', 2_000)])).toBe(true);
    const refused = exchange('acquire', 1_100, { ...JOB, process: 'c1', words: ['0', 'a1-1f#1', '2000', '1', '1000'] });
    const taken = exchange('acquire', 2_000, { ...JOB, process: 'c1', words: ['1', '2'] });
    expect(isStartedTwice([forgot], [taken])).toBe(false);
    expect(isStartedTwice([forgot], [refused, taken])).toBe(true);
  });
});

describe('A refusal, as the wires show it,', () => {
  const refused = (by: string, readMs?: number): Exchange => exchange('acquire', 10, { words: ['0', by], readMs });

  it('is one that was passed on, of a lock that somebody else holds', () => {
    const seen = refusalsIn([refused('b1-1f#1', 12), refused('a1-1f#7', 12), refused('c1-1f#1'), grant(20)]);
    expect(seen).toMatchObject([{ process: 'a1', by: 'b1-1f#1', atMs: 12 }]);
  });
});
