import { type Rule } from '../../test/support/checker.js';
import { type Story } from './story.js';

/** One fault in the table. */
export interface Row {
  readonly fault: string;
  readonly times: number;
  readonly runs: number;
  readonly overlaps: number;
  readonly staleStarts: number;
  readonly doubled: number;
  readonly lost: number;
  /** At worst, over all times. */
  readonly leaderlessMs: number;
  readonly bound: string;
  readonly isBroken: boolean;
}

/** The story of one fault, in figures. */
export function rowOf(fault: string, { episodes, runs, violations, unexpected, tooSlow }: Story): Row {
  const count = (...rules: Rule[]): number => violations.filter(({ rule }) => rules.includes(rule)).length;
  return {
    fault,
    times: episodes.length,
    runs,
    overlaps: count('overlap'),
    // one start may lack the lock and be past its deadline
    staleStarts:
      Math.max(count('start-without-lock'), count('start-after-deadline')) +
      count('start-outside-term', 'token-went-back'),
    doubled: count('started-twice'),
    lost: count('lost-in-silence'),
    leaderlessMs: Math.max(0, ...episodes.map(({ leaderlessMs }) => leaderlessMs)),
    bound: episodes[0]?.bound.formula ?? '',
    isBroken: violations.length + unexpected.length + tooSlow.length > 0,
  };
}

/** A fault whose story could not be told to its end. */
export function brokenRow(fault: string): Row {
  const none = { times: 0, runs: 0, overlaps: 0, staleStarts: 0, doubled: 0, lost: 0, leaderlessMs: 0 };
  return { fault, ...none, bound: '', isBroken: true };
}
