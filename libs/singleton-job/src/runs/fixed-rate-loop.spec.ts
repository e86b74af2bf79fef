import { describe, expect, it } from '@jest/globals';
import { fixedRate } from '../schedule/fixed-rate.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const everyHalfSecond = fixedRate(500, { offsetMs: 0 });
const runs = (lines: readonly string[]) => lines.filter((line) => /run|tick/.test(line));

describe('A fixed-rate job', () => {
  const replicas = useReplicas();

  it('drops the ticks that come while a run is in flight', async () => {
    const run = lasting(replicas.clock, 700);
    const a = replicas.start('a', [job({ schedule: everyHalfSecond, run })]);
    await replicas.clock.advance(2_400);
    expect(runs(a.observer.eventLines)).toEqual([
      '500 runStarted schedule',
      '1000 tickDropped overlap',
      '1200 runSucceeded schedule',
      '1500 runStarted schedule',
      '2000 tickDropped overlap',
      '2200 runSucceeded schedule',
    ]);
  });

  it('gives each run its slot on the grid since the epoch', async () => {
    await replicas.clock.advance(123);
    const slots: number[] = [];
    replicas.start('a', [
      job({ schedule: fixedRate(500, { offsetMs: 50 }), run: (run) => slots.push(run.scheduledAt.getTime()) }),
    ]);
    await replicas.clock.advance(1_500);
    expect(slots.map((slot) => slot % 500)).toEqual([50, 50, 50]);
    expect(slots[0]).toBe(new Date('2027-01-01T00:00:00.550Z').getTime());
  });

  it('keeps the grid when the leader changes, and runs no slot twice', async () => {
    const slots: number[] = [];
    const ticking = job({ schedule: everyHalfSecond, run: (run) => slots.push(run.scheduledAt.getTime()) });
    const a = replicas.start('a', [ticking]);
    // its wall clock is half a period behind: the slot that the other has just fired lies ahead of it
    const b = replicas.start('b', [ticking]);
    b.clock.aheadMs = -250;
    await replicas.clock.advance(1_010);
    await a.pool.stop();
    await replicas.clock.advance(1_500);
    expect(b.observer.of('leadershipGained')).toHaveLength(1);
    expect(new Set(slots).size).toBe(slots.length);
    expect(slots.map((slot, index) => slot - (slots[index - 1] ?? slot - 500))).toEqual(slots.map(() => 500));
  });

  it('runs one late tick after a blocked event loop, and reports the others', async () => {
    const a = replicas.start('a', [job({ schedule: everyHalfSecond })]);
    await replicas.clock.advance(600);
    await replicas.clock.block(2_000);
    await replicas.clock.advance(500);
    expect(runs(a.observer.eventLines)).toEqual([
      '500 runStarted schedule',
      '500 runSucceeded schedule',
      '2600 tickDropped late',
      '2600 runStarted schedule',
      '2600 runSucceeded schedule',
      '3000 runStarted schedule',
      '3000 runSucceeded schedule',
    ]);
    expect(a.observer.of('tickDropped')).toMatchObject([
      { count: 3, scheduledAt: new Date('2027-01-01T00:00:02.000Z') },
    ]);
  });

  it('sleeps again when its timer fires early', async () => {
    const a = replicas.start('a', [job({ schedule: everyHalfSecond })]);
    await replicas.clock.advance(100);
    replicas.clock.stepWall(-0.5);
    await replicas.clock.advance(420);
    expect(a.observer.of('runStarted').map((run) => run.startedAt.getTime() - run.scheduledAt.getTime())).toEqual([0]);
  });

  it('starts from the new time when the wall clock is set back by more than a period', async () => {
    const a = replicas.start('a', [job({ schedule: everyHalfSecond })]);
    await replicas.clock.advance(1_100);
    a.clock.aheadMs = -3_600_000;
    await replicas.clock.advance(1_500);
    const slots = a.observer.of('runStarted').map(({ scheduledAt }) => scheduledAt);
    expect(slots.slice(2)).toEqual([new Date('2026-12-31T23:00:02.000Z'), new Date('2026-12-31T23:00:02.500Z')]);
  });

  it('ignores a slot far ahead, from a replica with a wrong clock', async () => {
    const ahead = replicas.start('ahead', [job({ schedule: everyHalfSecond })]);
    ahead.clock.aheadMs = 86_400_000;
    await replicas.clock.advance(5_000);
    await ahead.pool.stop();
    const b = replicas.start('b', [job({ schedule: everyHalfSecond })]);
    await replicas.clock.advance(1_000);
    expect(b.observer.of('runStarted')).toHaveLength(2);
  });

  it('drops ticks while the wall clock is past the deadline, until a renewal is confirmed', async () => {
    const a = replicas.start('a', [job({ schedule: fixedRate(1_000, { offsetMs: 0 }) })]);
    await replicas.clock.advance(1_500);
    a.clock.aheadMs = 60_000;
    await replicas.clock.advance(2_500);
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '1000 runStarted schedule',
      '1000 runSucceeded schedule',
      '2000 tickDropped late',
      '2000 tickDropped lease-unconfirmed',
      '3000 runStarted schedule',
      '3000 runSucceeded schedule',
      '4000 runStarted schedule',
      '4000 runSucceeded schedule',
    ]);
  });

  describe("with overlap 'cancel-other'", () => {
    it('aborts the run in flight and runs the new tick as soon as that has ended', async () => {
      const run = lasting(replicas.clock, 5_000, { obedient: true });
      const a = replicas.start('a', [job({ schedule: everyHalfSecond, overlap: 'cancel-other', run })]);
      await replicas.clock.advance(1_200);
      expect(runs(a.observer.eventLines)).toEqual([
        '500 runStarted schedule',
        '1000 runCancelled schedule SUPERSEDED',
        '1000 runStarted schedule',
      ]);
    });

    it('keeps only the newest waiting tick while the old run ends', async () => {
      const run = lasting(replicas.clock, 1_700);
      const a = replicas.start('a', [job({ schedule: everyHalfSecond, overlap: 'cancel-other', run })]);
      await replicas.clock.advance(2_300);
      expect(runs(a.observer.eventLines)).toEqual([
        '500 runStarted schedule',
        '1500 tickDropped overlap',
        '2000 tickDropped overlap',
        '2200 runSucceeded schedule',
        '2200 runStarted schedule',
      ]);
      expect(a.observer.of('tickDropped').map(({ scheduledAt }) => scheduledAt.getSeconds())).toEqual([1, 1]);
      expect(a.observer.of('runStarted').at(-1)?.scheduledAt).toEqual(new Date('2027-01-01T00:00:02.000Z'));
    });
  });
});
