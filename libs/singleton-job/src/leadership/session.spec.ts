import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { instant } from '../time/index.js';
import { Session } from './session.js';

function setup() {
  const clock = new ManualClock();
  const told: string[] = [];
  const session = new Session('a.1@10000', 10_000, clock, () => told.push(`unused@${clock.now()}`));
  session.signal.addEventListener('abort', () => told.push(`over@${clock.now()}`));
  return { clock, session, told };
}

describe('A session', () => {
  it('is not trusted before the store has confirmed it', () => {
    const { session } = setup();
    expect([session.isTrusted(), session.isOver, session.deadline, session.confirmedEnd]).toEqual([
      false,
      false,
      undefined,
      undefined,
    ]);
  });

  it('is trusted for nine tenths of its life after the heartbeat was sent, and then over', async () => {
    const { clock, session, told } = setup();
    session.extend(instant(clock), 42);
    expect(session.confirmedEnd).toBe(42);
    await clock.advance(8_999);
    expect(session.isTrusted()).toBe(true);
    await clock.advance(1);
    expect([session.isTrusted(), session.isOver]).toEqual([false, true]);
    expect(told).toEqual(['over@9000', 'unused@9000']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is extended by each heartbeat, counted from when that was sent', async () => {
    const { clock, session, told } = setup();
    session.extend(instant(clock), 1);
    await clock.advance(3_000);
    const sent = instant(clock);
    await clock.advance(5_000);
    session.extend(sent, 2);
    await clock.advance(20_000);
    expect(told[0]).toBe('over@12000');
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

  it('is not trusted past its deadline, although no timer could fire yet', async () => {
    const { clock, session } = setup();
    session.extend({ now: -9_000, wall: clock.wallNow() }, 1);
    expect([session.isTrusted(), session.isOver]).toEqual([false, true]);
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not trusted while the wall clock is past its deadline, and not over', async () => {
    const { clock, session } = setup();
    session.extend(instant(clock), 1);
    clock.stepWall(9_000);
    expect([session.isTrusted(), session.isOver]).toEqual([false, false]);
    await clock.advance(1_000);
    session.extend(instant(clock), 2);
    expect(session.isTrusted()).toBe(true);
    session.end();
    expect(clock.pendingTimers).toBe(0);
  });

  it('stays over once the store has ended it', async () => {
    const { clock, session, told } = setup();
    session.extend(instant(clock), 1);
    session.end();
    session.extend(instant(clock), 2);
    session.end();
    expect([session.isOver, session.isTrusted()]).toEqual([true, false]);
    expect(told).toEqual(['over@0', 'unused@0']);
    await clock.advance(20_000);
    expect(told).toHaveLength(2);
  });

  it('is unused only when nothing runs under it any more', () => {
    const { session, told } = setup();
    const leaves = [session.use(), session.use()];
    session.end();
    expect(told).toEqual(['over@0']);
    leaves[0]?.();
    leaves[0]?.();
    expect(told).toEqual(['over@0']);
    leaves[1]?.();
    expect(told).toEqual(['over@0', 'unused@0']);
  });

  it('is not unused while it goes on', () => {
    const { session, told } = setup();
    session.use()();
    expect(told).toEqual([]);
    session.end();
  });
});
