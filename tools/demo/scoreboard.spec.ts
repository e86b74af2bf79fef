import { describe, expect, it } from '@jest/globals';
import { type JobScore, score } from './scoreboard.js';
import { Script } from './scripted-facts.js';

const TICK = { name: 'tick', letter: 't', rhythm: 'often' };

const scoreOf = ({ facts }: Script): JobScore | undefined => score(facts, [TICK])[0];

/** A leads and has begun a run. */
const started = (): Script =>
  new Script().start('A').start('B').lead('A', 'tick', 7).wait(100).run('A', 'tick', 7).wait(20);

/** The same, and its run has ended. */
const idle = (): Script => started().done('A', 'tick').wait(80);

describe('the scoreboard', () => {
  it('counts a graceful hand-over from the end of the run that the stop waited for', () => {
    const script = started().stop('A').wait(300).done('A', 'tick').wait(5).release('A', 'tick', 7).wait(2);
    script.lead('B', 'tick', 8).wait(100).run('B', 'tick', 8).done('B', 'tick').end('A');
    const expected = { leaders: ['A', 'B'], graceful: [7], kills: [], runs: 2, dropped: 0, overlapping: 0 };
    expect(scoreOf(script)).toEqual({ job: 'tick', ...expected });
  });

  it('counts a graceful hand-over from the stop where no run was in flight', () => {
    const script = idle().stop('A').wait(30).release('A', 'tick', 7).wait(2).lead('B', 'tick', 8);
    expect(scoreOf(script)?.graceful).toEqual([32]);
  });

  it('counts a hand-over after a kill from the end of the process, with which its run ended', () => {
    const script = started().kill('A').wait(1_900).lead('B', 'tick', 8).run('B', 'tick', 8);
    expect(scoreOf(script)).toMatchObject({ kills: [1_900], overlapping: 0 });
  });

  it('counts dropped ticks', () => {
    expect(scoreOf(started().drop('A', 'tick').wait(100).drop('A', 'tick'))?.dropped).toBe(2);
  });

  it('counts runs that began while another was in flight', () => {
    expect(scoreOf(started().lead('B', 'tick', 8).run('B', 'tick', 8))?.overlapping).toBe(1);
  });

  it('goes by the times of facts, not by the order of their arrival', () => {
    const script = started().stop('A').wait(9).done('A', 'tick').wait(1).lead('B', 'tick', 8).run('B', 'tick', 8);
    expect(score(script.facts.toReversed(), [TICK])[0]).toMatchObject({ graceful: [1], overlapping: 0 });
  });
});
