import { describe, expect, it } from '@jest/globals';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { fixedRate } from '../schedule/fixed-rate.js';

const everyHalfSecond = fixedRate(500, 0);

/** When runs start and end, and when and why ticks are dropped. */
const told = ({ observer }: TestReplica): string[] =>
  observer.events.flatMap(({ atMs, event, payload }) => {
    if (event === 'tickDropped') return `${String(atMs)} ${payload.reason} ${String(payload.count)}`;
    return event === 'runStarted'
      ? `${String(atMs)} starts`
      : event === 'runCancelled'
        ? `${String(atMs)} cancelled`
        : [];
  });
const slotsOf = (...replicas: readonly TestReplica[]) =>
  replicas.flatMap(({ observer }) => observer.of('runStarted').map(({ scheduledAt }) => scheduledAt.toISOString()));

describe('A fixed-rate job', () => {
  const replicas = useReplicas();

  it('drops the ticks that come while a run is in flight', async () => {
    const run = lasting(replicas.clock, 700);
    const a = await replicas.leader([job({ schedule: everyHalfSecond, run })], 2_400);
    expect(told(a)).toEqual(['500 starts', '1000 overlap 1', '1500 starts', '2000 overlap 1']);
  });

  it('keeps the grid when the leader changes, and runs no slot twice', async () => {
    const a = replicas.start('a', [job({ schedule: everyHalfSecond })]);
    // its wall clock is half a period behind: the slot that the other has just fired lies ahead of it
    const b = replicas.start('b', [job({ schedule: everyHalfSecond })]);
    b.clock.aheadMs = -250;
    await replicas.clock.advance(1_010);
    await a.pool.stop();
    await replicas.clock.advance(1_500);
    const slots = ['00.500', '01.000', '01.500', '02.000'].map((second) => `2027-01-01T00:00:${second}Z`);
    expect([slotsOf(a), slotsOf(b)]).toEqual([slots.slice(0, 2), slots.slice(2)]);
  });

  it('runs one late tick after a blocked event loop, and reports the others', async () => {
    const a = await replicas.leader([job({ schedule: everyHalfSecond })], 600);
    await replicas.clock.block(2_000);
    await replicas.clock.advance(500);
    expect(told(a)).toEqual(['500 starts', '2600 late 3', '2600 starts', '3000 starts']);
    expect(a.observer.of('tickDropped')).toMatchObject([{ scheduledAt: new Date('2027-01-01T00:00:02.000Z') }]);
  });

  it('starts from the new time when the wall clock is set back by more than a period', async () => {
    const a = await replicas.leader([job({ schedule: everyHalfSecond })], 1_100);
    a.clock.aheadMs = -3_600_000;
    await replicas.clock.advance(1_500);
    expect(slotsOf(a).slice(2)).toEqual(['2026-12-31T23:00:02.000Z', '2026-12-31T23:00:02.500Z']);
  });

  it('ignores a slot far ahead, from a replica with a wrong clock', async () => {
    const ahead = replicas.start('ahead', [job({ schedule: everyHalfSecond })]);
    ahead.clock.aheadMs = 86_400_000;
    await replicas.clock.advance(5_000);
    await ahead.pool.stop();
    const b = await replicas.another([job({ schedule: everyHalfSecond })], 1_000);
    expect(told(b)).toEqual(['5500 starts', '6000 starts']);
  });

  it('drops ticks while the wall clock is past the deadline, until a renewal is confirmed', async () => {
    const a = await replicas.leader([job()], 1_500);
    a.clock.aheadMs = 60_000;
    await replicas.clock.advance(2_500);
    const dropped = ['2000 late 60', '2000 lease-unconfirmed 1'];
    expect(told(a)).toEqual(['1000 starts', ...dropped, '3000 starts', '4000 starts']);
    expect(a.observer.of('leadershipLost')).toEqual([]);
  });

  it("with overlap 'cancel-other' reports the tick that waits when the leader stops", async () => {
    const run = lasting(replicas.clock, 1_300);
    const a = await replicas.leader([job({ schedule: everyHalfSecond, overlap: 'cancel-other', run })], 1_200);
    await Promise.all([a.pool.stop(), replicas.clock.advance(1_000)]);
    expect(told(a)).toEqual(['500 starts', '1200 overlap 1']);
  });

  it.each([
    ['an obedient run, and starts at once', true, 5_000, ['1000 cancelled', '1000 starts']],
    ['a run that goes on, and only the newest tick waits', false, 1_300, ['1500 overlap 1', '1800 starts']],
  ])("with overlap 'cancel-other' aborts %s", async (_, obedient, runMs, lines) => {
    const run = lasting(replicas.clock, runMs, { obedient });
    const a = replicas.start('a', [job({ schedule: everyHalfSecond, overlap: 'cancel-other', run })]);
    await replicas.clock.advance(obedient ? 1_200 : 1_900);
    expect(told(a)).toEqual(['500 starts', ...lines]);
    expect(a.observer.of('tickDropped').map(({ scheduledAt }) => scheduledAt)).toEqual(
      obedient ? [] : [new Date('2027-01-01T00:00:01.000Z')],
    );
  });
});
