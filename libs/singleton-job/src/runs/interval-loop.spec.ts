import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../../../test/support/event-lines.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { interval } from '../schedule/interval.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('An interval job', () => {
  const replicas = useReplicas();
  const every = (delayMs: number, runMs = 0) =>
    job({ schedule: interval(delayMs), run: (run) => (runMs === 0 ? undefined : lasting(replicas.clock, runMs)(run)) });

  it('runs at once on a new leader, and then waits from the end of each run', async () => {
    const a = await replicas.leader([every(1_000, 300)], 3_000);
    expect(timesOf(a, 'runStarted')).toEqual([0, 1_300, 2_600]);
    expect(timesOf(a, 'runSucceeded')).toEqual([300, 1_600, 2_900]);
  });

  it('writes the end of a run within 10 s if its delay is short', async () => {
    const a = await replicas.leader([every(1_000)], 9_900);
    expect(a.observer.of('runSucceeded')).toHaveLength(10);
    expect(a.store.writes.length).toBe(1);
  });

  it.each([
    ['from the last run', MINUTE, 0, 10_000, MINUTE],
    ['from the last run, right after it', HOUR, 100, 200, HOUR + 100],
    ['at once, if the delay has passed', 20_000, 0, 19_000, 28_000],
    ['from the takeover, in a run', 20_000, HOUR, 30_500, 60_000],
    // in its third run, which began at 18 s, after the heartbeat of that moment was sent
    ['from the takeover, with a short delay', 8_000, 1_000, 18_150, 36_000],
  ])('whose leader is killed runs again %s', async (_, delayMs, runMs, killedMs, startedMs) => {
    const a = replicas.start('a', [every(delayMs, runMs)]);
    const b = await replicas.another([every(delayMs)], killedMs);
    a.kill();
    await replicas.clock.advance(startedMs + 1_000 - killedMs);
    expect(timesOf(b, 'runStarted')).toEqual([startedMs]);
  });

  it('waits its whole delay on a new leader whose observers take time', async () => {
    const slow = { leadershipGained: () => void replicas.clock.block(150) };
    const [a, b] = ['a', 'b'].map((id) => replicas.start(id, [every(1_000)], { observers: [slow] }));
    await replicas.clock.advance(500);
    await a?.pool.stop();
    await replicas.clock.advance(2_000);
    expect(b && timesOf(b, 'runStarted')).toEqual([1_150, 2_150]);
  });

  it('is due when it was, however long its start is recorded', async () => {
    const a = await replicas.leader([every(MINUTE)], 30_000);
    a.store.delayMs = 200;
    await replicas.clock.advance(31_000);
    const [, run] = a.observer.of('runStarted');
    expect(run?.scheduledAt).toEqual(new Date('2027-01-01T00:01:00Z'));
  });

  it('is not disturbed by a wall clock that steps', async () => {
    const a = await replicas.leader([every(1_000)], 500);
    a.clock.aheadMs = -HOUR;
    await replicas.clock.advance(3_000);
    expect(timesOf(a, 'runStarted')).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('waits for an answer before a run if the wall clock is past the deadline', async () => {
    const a = await replicas.leader([every(1_000)], 500);
    a.clock.aheadMs = MINUTE;
    const arrive = a.store.holdAnswers();
    await replicas.clock.advance(1_000);
    expect(timesOf(a, 'runStarted')).toEqual([0]);
    arrive();
    await replicas.clock.advance(200);
    expect(timesOf(a, 'runStarted')).toEqual([0, 1_500]);
  });

  it('counts no delay from a run whose method was never called', async () => {
    let sleeps = 1;
    const slow = {
      runStarted: () => {
        if (sleeps-- > 0) a.clock.aheadMs = 20_000;
      },
    };
    const a = replicas.start('a', [every(24 * HOUR)], { observers: [slow] });
    await replicas.clock.advance(1);
    expect(a.observer.of('runCancelled')).toHaveLength(1);
    await replicas.clock.advance(MINUTE);
    expect(a.observer.of('runSucceeded')).toHaveLength(1);
  });
});
