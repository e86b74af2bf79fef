import { describe, expect, it } from '@jest/globals';
import { type JobOnStage } from './cast.js';
import { score, type Scoreboard } from './scoreboard.js';
import { Script } from './scripted-facts.js';

const TICK: JobOnStage = {
  name: 'tick',
  letter: 't',
  rhythm: 'often',
  lockExpiryMs: 2_000,
  firstRunWithinMs: 1_000,
};

const judge = (script: Script): Scoreboard => score(script.facts, [TICK], script.nowMs);

/** A leads and has run once. */
const started = (): Script =>
  new Script().start('A').start('B').start('C').lead('A', 'tick', 7).wait(100).run('A', 'tick', 7).wait(20);

/** The same, and its run has ended. */
const idle = (): Script => started().done('A', 'tick').wait(80);

describe('the scoreboard', () => {
  it('counts a graceful hand-over from the end of the run that the stop waited for', () => {
    const script = started().stop('A').wait(300).done('A', 'tick').wait(5).release('A', 'tick', 7).wait(2);
    script.lead('B', 'tick', 8).wait(100).run('B', 'tick', 8).done('B', 'tick').end('A');
    expect(judge(script)).toEqual({
      jobs: [{ job: 'tick', leaders: ['A', 'B'], graceful: [7], kills: [], runs: 2, dropped: 0, overlapping: 0 }],
      broken: [],
    });
  });

  it('counts a graceful hand-over from the stop where no run was in flight', () => {
    const script = idle().stop('A').wait(30).release('A', 'tick', 7).wait(2).lead('B', 'tick', 8);
    expect(judge(script).jobs[0]?.graceful).toEqual([32]);
  });

  it('counts a hand-over after a kill from the end of the process, and the run that was killed as ended with it', () => {
    const script = started().kill('A').wait(1_900).lead('B', 'tick', 8).run('B', 'tick', 8);
    expect(judge(script)).toMatchObject({ jobs: [{ kills: [1_900], overlapping: 0 }], broken: [] });
  });

  it('counts a hand-over from when somebody was there to take over', () => {
    const script = new Script().start('A').lead('A', 'tick', 7).run('A', 'tick', 7).kill('A').wait(9_000);
    script.start('B').wait(40).lead('B', 'tick', 8);
    expect(judge(script)).toMatchObject({ jobs: [{ kills: [40] }], broken: [] });
  });

  it('counts dropped ticks', () => {
    expect(judge(started().drop('A', 'tick').wait(100).drop('A', 'tick')).jobs[0]?.dropped).toBe(2);
  });

  it('judges facts by their times, not by the order of their arrival', () => {
    const script = started().stop('A').wait(9).done('A', 'tick').release('A', 'tick', 7).wait(1).lead('B', 'tick', 8);
    expect(
      score(
        script.facts.toReversed().sort((a, b) => a.pid - b.pid),
        [TICK],
        script.nowMs,
      ).broken,
    ).toEqual([]);
  });
});

describe('a broken promise', () => {
  it.each<[string, Script]>([
    [
      'tick: a run on B began while one on A was in flight',
      started().release('A', 'tick', 7).lead('B', 'tick', 8).wait(80).run('B', 'tick', 8),
    ],
    ['tick: B took the lead while A led', idle().lead('B', 'tick', 8).wait(2_100).run('B', 'tick', 8)],
    ['tick: the fencing token went from 7 (A) to 7 (B)', idle().release('A', 'tick', 7).lead('B', 'tick', 7)],
    ['tick: B ran with token 8, which it did not lead with', idle().run('B', 'tick', 8)],
    [
      'tick: 1970-01-01T00:00:00.100Z was started twice, the second time on B',
      started().done('A', 'tick').release('A', 'tick', 7).lead('B', 'tick', 8).run('B', 'tick', 8),
    ],
    [
      'tick: graceful hand-over from A to B took 1900 ms, more than 1000 ms',
      idle().stop('A').release('A', 'tick', 7).wait(1_900).lead('B', 'tick', 8),
    ],
    [
      'tick: kill hand-over from A to B took 5001 ms, more than 5000 ms',
      idle().kill('A').wait(5_001).lead('B', 'tick', 8),
    ],
    ['tick: B led for 1001 ms and never ran it', idle().kill('A').wait(50).lead('B', 'tick', 8).wait(1_001)],
    ['tick: nobody led it after A', idle().kill('A').wait(5_001)],
    ['tick: nobody ever led it', new Script().start('A').wait(9_000)],
    ['C (pid 102) crashed with exit code 1', idle().end('C', 1)],
    ['C (pid 102) did not end when it was asked to', idle().stop('C').wait(1).kill('C')],
  ])('is told: %s', (sentence, script) => {
    expect(judge(script).broken).toContain(sentence);
  });

  it('is not what happens after the demo began to end', () => {
    const script = idle();
    const untilMs = script.nowMs;
    script.stop('A').release('A', 'tick', 7).wait(9_000).end('A');
    expect(score(script.facts, [TICK], untilMs).broken).toEqual([]);
  });
});
