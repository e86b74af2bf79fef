import { describe, expect, it } from '@jest/globals';
import { Failures } from './failures.js';

const MINUTE = 60_000;

function setup() {
  const failures = new Failures();
  const run = (atMs: number) => ({ job: 'report', startedAt: new Date(atMs), durationMs: 0 });
  /** `* ` marks a line with a stack. */
  const fails = (atMs: number, how = 'timeout'): string | undefined => {
    const line = failures.failed(run(atMs), how);
    return line && `${line.hasStack ? '* ' : ''}failed${line.times}`;
  };
  const succeeds = (atMs: number) => failures.succeeded(run(atMs));
  /** The lines of an hour with an end each half second. */
  const linesOfAnHour = (ends: (atMs: number) => string | undefined): string[] =>
    Array.from({ length: 7_200 }, (_, index) => ends(index * 500)).filter((line) => line !== undefined);
  return { fails, succeeds, linesOfAnHour };
}

describe('A job that fails', () => {
  it('at each tick of an hour has a line with its stack, then one after 1, 2, 4 … minutes, and one at its end', () => {
    const { fails, succeeds, linesOfAnHour } = setup();
    expect(linesOfAnHour((at) => fails(at))).toEqual([
      '* failed',
      'failed, 121 times within 60.0 s',
      'failed, 241 times within 120.0 s',
      'failed, 481 times within 240.0 s',
      'failed, 961 times within 480.0 s',
      'failed, 1921 times within 960.0 s',
      'failed, 3841 times within 1920.0 s',
    ]);
    expect(succeeds(60 * MINUTE)).toBe('succeeded again, after 7200 failed runs');
    expect(succeeds(61 * MINUTE)).toBeUndefined();
  });

  it('and succeeds by turns has no more lines, and one when it has not failed for 10 min', () => {
    const { fails, succeeds, linesOfAnHour } = setup();
    expect(linesOfAnHour((at) => (at % 1_000 === 0 ? fails(at) : succeeds(at)))).toEqual([
      '* failed',
      'succeeded again, after 1 failed run',
      'failed, 61 times within 60.0 s',
      'failed, 121 times within 120.0 s',
      'failed, 241 times within 240.0 s',
      'failed, 481 times within 480.0 s',
      'failed, 961 times within 960.0 s',
      'failed, 1921 times within 1920.0 s',
    ]);
    expect(succeeds(69 * MINUTE)).toBeUndefined();
    expect(succeeds(70 * MINUTE)).toBe('succeeded again, after 3600 failed runs');
    expect([fails(71 * MINUTE), succeeds(72 * MINUTE)]).toEqual(['* failed', 'succeeded again, after 1 failed run']);
  });

  it('10 min after its last failure, if it succeeded in between, is in new trouble', () => {
    const { fails, succeeds } = setup();
    fails(0);
    succeeds(MINUTE);
    expect(fails(10 * MINUTE)).toBe('* failed');
  });

  it('in another way has another line with its stack; another number is the same way', () => {
    const { fails } = setup();
    fails(0, 'row 17 is locked');
    expect(fails(500, 'row 4711 is locked')).toBeUndefined();
    expect(fails(1_000, 'timeout')).toMatch(/^\* failed, 3 times .*$/);
    expect(fails(1_500, 'row 17 is locked')).toBeUndefined();
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
    expect(lines).toEqual([undefined, undefined, 'failed, 4 times within 60.0 s']);
  });
});
