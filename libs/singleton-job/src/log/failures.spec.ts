import { describe, expect, it } from '@jest/globals';
import { Failures } from './failures.js';

const MINUTE = 60_000;
const TIMEOUT = new Error('timeout');

function setup() {
  const failures = new Failures();
  /** `* ` marks a line with a stack. */
  const fails = (atMs: number, error: unknown = TIMEOUT): string | undefined => {
    const scheduledAt = new Date(atMs);
    const run = {
      kind: 'fixed-rate',
      cause: 'schedule',
      fencingToken: 1,
      scheduledAt,
      startedAt: scheduledAt,
    } as const;
    const line = failures.failed({ job: 'report', ...run, durationMs: 0, error });
    return line && (line.stack === undefined ? '' : '* ') + line.text;
  };
  return { failures, fails };
}

describe('A job that fails', () => {
  it('at each tick of an hour has a line with its stack, then one after 1, 2, 4 … minutes, and one at its end', () => {
    const { failures, fails } = setup();
    const lines: string[] = [];
    for (let at = 0; at < 60 * MINUTE; at += 500) {
      const line = fails(at);
      if (line !== undefined) lines.push(line);
    }
    expect(lines).toEqual([
      '* failed after 0 ms: timeout',
      'failed after 0 ms, 121 times in a row within 60.0 s: timeout',
      'failed after 0 ms, 241 times in a row within 120.0 s: timeout',
      'failed after 0 ms, 481 times in a row within 240.0 s: timeout',
      'failed after 0 ms, 961 times in a row within 480.0 s: timeout',
      'failed after 0 ms, 1921 times in a row within 960.0 s: timeout',
      'failed after 0 ms, 3841 times in a row within 1920.0 s: timeout',
    ]);
    expect(failures.succeeded('report')).toBe('succeeded again, after 7200 failed runs');
    expect(failures.succeeded('report')).toBeUndefined();
  });

  it('in another way has another line with its stack; another number is the same way', () => {
    const { fails } = setup();
    fails(0, new Error('row 17 is locked'));
    expect(fails(500, new Error('row 4711 is locked'))).toBeUndefined();
    expect(fails(1_000, TIMEOUT)).toMatch(/^\* failed after 0 ms, 3 times .*: timeout$/);
    expect(fails(1_500, new Error('row 17 is locked'))).toBeUndefined();
  });

  it('once a day has a line with its stack each day', () => {
    const { fails } = setup();
    const lines = [0, 1, 2, 3, 4, 5].map((day) => fails(day * 24 * 60 * MINUTE));
    expect(lines.every((line) => line?.startsWith('* '))).toBe(true);
  });

  it('has the next line a minute after the first one also when its clock was set back', () => {
    const { fails } = setup();
    fails(60 * MINUTE);
    const lines = [0, 59_500, MINUTE].map((at) => fails(at));
    expect(lines).toEqual([undefined, undefined, 'failed after 0 ms, 4 times in a row within 60.0 s: timeout']);
  });
});
