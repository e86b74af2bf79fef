import { describe, expect, it } from '@jest/globals';
import { type JobOnStage } from './cast.js';
import { coloured, type Paint, paintFor, plain } from './paint.js';
import { Screen } from './screen.js';
import { Script } from './scripted-facts.js';
import { table } from './table.js';

const job = (name: string, letter: string): JobOnStage => {
  return { name, letter, rhythm: 'often' };
};
const JOBS = [job('beat', 'b'), job('tick', 't')];

/** The lanes and the words of each line, without its time. */
function lines(script: Script, paint: Paint = plain): string[] {
  const screen = new Screen(['A', 'B'], JOBS, paint);
  return script.facts
    .flatMap((fact) => screen.draw(fact))
    .map((line) => line.replace(/^.*?\.\d{3}(\u001b\[0m)? {3}/, ''));
}

describe('the screen', () => {
  it('shows a job that moves from the lane of a stopped replica to that of the next', () => {
    const script = new Script().start('A').start('B').lead('A', 'tick', 7).run('A', 'tick', 7).drop('A', 'tick');
    script.stop('A').done('A', 'tick', { durationMs: 1_200 }).release('A', 'tick', 7).lead('B', 'tick', 8).end('A');
    expect(lines(script.run('B', 'tick', 8).done('B', 'tick'))).toEqual([
      '· ·          A is there, pid 100',
      '· ·    · ·   B is there, pid 101',
      '· ◆    · ·   tick          A leads, token 7',
      '· ●    · ·   tick          runs on A',
      '· ○    · ·   tick          tick dropped, its last run goes on',
      '· ┃    · ·   A is asked to stop (SIGTERM)',
      '· ✓    · ·   tick          done on A after 1.20 s',
      '· ◇    · ·   tick          A gives the lead back',
      '· ·    · ◆   tick          B leads, token 8',
      '       · │   A is gone',
      '       · ●   tick          runs on B',
    ]);
  });

  it('marks what a killed replica led', () => {
    const script = new Script().start('A').lead('A', 'beat', 7).lead('A', 'tick', 7).kill('A');
    expect(lines(script).slice(-2)).toEqual(['│ │          A is killed (SIGKILL)', '✖ ✖          A is gone']);
  });

  it('keeps its columns whether or not it is coloured', () => {
    const script = new Script().start('A').lead('A', 'tick', 7).run('A', 'tick', 7);
    const uncoloured = lines(script, coloured).map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
    expect(uncoloured).toEqual(lines(script));
  });

  it('is plain where it does not write to a terminal', () => {
    expect(paintFor({})('red', 'text')).toBe('text');
  });
});

describe('the table', () => {
  it('aligns its columns and shows the slowest hand-over', () => {
    const score = { leaders: ['A', 'B', 'C'], graceful: [4, 7], kills: [], runs: 12, dropped: 3, overlapping: 0 };
    expect(table([{ job: 'tick', ...score }], plain)).toEqual([
      '                     hand-over    hand-over          dropped   overlapping',
      ' job    leaders     on SIGTERM   on SIGKILL   runs     ticks          runs',
      ' tick   A → B → C         7 ms            –     12         3             0',
    ]);
  });
});
