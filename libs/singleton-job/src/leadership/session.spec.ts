import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { instant } from '../base/time/clock.js';
import { Session } from './session.js';

function setup() {
  const clock = new ManualClock();
  const calls: string[] = [];
  const session = new Session('a.1@10000', 10_000, clock, {
    unused: () => calls.push(`unused@${clock.now()}`),
    takeReports: () => undefined,
  });
  session.signal.addEventListener('abort', () => calls.push(`over@${clock.now()}`));
  return { clock, session, calls };
}

describe('A session', () => {
  it('is not valid before the store has confirmed it', () => {
    const { session } = setup();
    expect([session.isValid(), session.isOver, session.deadline, session.confirmedEnd]).toEqual([
      false,
      false,
      undefined,
      undefined,
    ]);
  });

  it('is valid for nine tenths of its life after the heartbeat was sent, then it is over', async () => {
    const { clock, session, calls } = setup();
    session.extend(instant(clock), 42);
    expect(session.confirmedEnd).toBe(42);
    await clock.advance(8_999);
    expect(session.isValid()).toBe(true);
    await clock.advance(1);
    expect([session.isValid(), session.isOver]).toEqual([false, true]);
    expect(calls).toEqual(['over@9000', 'unused@9000']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is extended by each heartbeat, from the time at which that was sent', async () => {
    const { clock, session, calls } = setup();
    session.extend(instant(clock), 1);
    await clock.advance(3_000);
    const sent = instant(clock);
    await clock.advance(5_000);
    session.extend(sent, 2);
    await clock.advance(20_000);
    expect(calls[0]).toBe('over@12000');
  });

  it('is not shortened by the answer to a heartbeat that was sent earlier', async () => {
    const { clock, session } = setup();
    session.extend(instant(clock), 1);
    const earlier = instant(clock);
    await clock.advance(3_000);
    session.extend(instant(clock), 2);
    session.extend(earlier, 1);
    expect([session.deadline?.now, session.confirmedEnd]).toEqual([12_000, 2]);
    session.end();
  });

  it('is over at its own deadline, even if the store would extend it', async () => {
    const { clock, session } = setup();
    session.extend(instant(clock), 1);
    const sent = instant(clock);
    await clock.advance(9_000);
    session.extend(sent, 2);
    session.extend(instant(clock), 3);
    expect([session.isOver, session.confirmedEnd]).toEqual([true, 1]);
  });

  it('is not valid past its deadline, also before a timer fires', async () => {
    const { clock, session } = setup();
    session.extend({ now: -9_000, wall: clock.wallNow() }, 1);
    expect([session.isValid(), session.isOver]).toEqual([false, true]);
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not valid while only the wall clock is past its deadline, but not over', async () => {
    const { clock, session } = setup();
    session.extend(instant(clock), 1);
    clock.stepWall(9_000);
    expect([session.isValid(), session.isOver]).toEqual([false, false]);
    await clock.advance(1_000);
    session.extend(instant(clock), 2);
    expect(session.isValid()).toBe(true);
    session.end();
    expect(clock.pendingTimers).toBe(0);
  });

  it('stays over once the store has ended it', async () => {
    const { clock, session, calls } = setup();
    session.extend(instant(clock), 1);
    session.end();
    session.extend(instant(clock), 2);
    session.end();
    expect([session.isOver, session.isValid()]).toEqual([true, false]);
    expect(calls).toEqual(['over@0', 'unused@0']);
    await clock.advance(20_000);
    expect(calls).toHaveLength(2);
  });

  it('is unused when nothing runs under it any more', () => {
    const { session, calls } = setup();
    const leaves = [session.addUser(), session.addUser()];
    session.end();
    expect(calls).toEqual(['over@0']);
    leaves[0]?.();
    leaves[0]?.();
    expect(calls).toEqual(['over@0']);
    leaves[1]?.();
    expect(calls).toEqual(['over@0', 'unused@0']);
  });

  it('is not unused while it continues', () => {
    const { session, calls } = setup();
    session.addUser()();
    expect(calls).toEqual([]);
    session.end();
  });
});

describe('A session that the heartbeat thread extends', () => {
  /** Reports that the session takes when its timer fires. */
  function setupWithReports() {
    const clock = new ManualClock();
    const reports: { sentMs: number; answeredMs: number; end: number }[] = [];
    const session: Session = new Session('a.1@10000', 10_000, clock, {
      unused: () => undefined,
      takeReports: () => {
        for (const { sentMs, answeredMs, end } of reports.splice(0))
          session.raise({ now: sentMs, wall: startWallMs + sentMs }, end, answeredMs);
      },
    });
    const startWallMs = clock.wallNow();
    session.extend(instant(clock), 1);
    return { clock, session, reports };
  }

  it('continues by reports that had arrived when its timer fires', async () => {
    const { clock, session, reports } = setupWithReports();
    reports.push({ sentMs: 5_000, answeredMs: 5_010, end: 2 });
    await clock.block(9_500);
    expect([session.deadline?.now, session.confirmedEnd, session.isValid()]).toEqual([14_000, 2, true]);
    await clock.advance(4_500);
    expect(session.isOver).toBe(true);
  });

  it('is not changed by reading its deadline', () => {
    const { clock, session, reports } = setupWithReports();
    reports.push({ sentMs: 5_000, answeredMs: 5_010, end: 2 });
    void clock.block(9_500);
    expect([session.deadline?.now, session.isValid(), session.isOver, reports.length]).toEqual([
      9_000,
      false,
      false,
      1,
    ]);
    session.end();
  });

  it.each([
    ['that comes after its timer has fired', 5_010],
    ['of an answer that came after its deadline', 9_200],
  ])('is not revived by a report %s', async (_what, answeredMs) => {
    const { clock, session, reports } = setupWithReports();
    if (answeredMs > 9_000) reports.push({ sentMs: 5_000, answeredMs, end: 2 });
    await clock.block(9_500);
    session.raise({ now: 5_000, wall: clock.wallNow() - 4_500 }, 2, answeredMs);
    expect([session.deadline?.now, session.isOver]).toEqual([9_000, true]);
  });

  it('continues by a report while only the wall clock is past its deadline', async () => {
    const { clock, session } = setupWithReports();
    clock.stepWall(9_000);
    expect(session.isValid()).toBe(false);
    clock.stepWall(-9_000);
    session.raise({ now: 1, wall: clock.wallNow() + 1 }, 2, 2);
    expect([session.isValid(), session.confirmedEnd]).toEqual([true, 2]);
    session.end();
    await clock.advance(20_000);
    expect(clock.pendingTimers).toBe(0);
  });
});
