import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { instant } from '../time/index.js';
import { Lease } from './lease.js';

function setup() {
  const clock = new ManualClock();
  const sent = instant(clock);
  const lease = new Lease(clock, { lockExpiryMs: 10_000, safetyMarginMs: 1_000 }, sent);
  return { clock, sent, lease };
}

describe('A lease', () => {
  it('is trusted until its expiry minus the safety margin, counted from the request', async () => {
    const { clock, lease } = setup();
    await clock.advance(8_999);
    expect(lease.isTrusted()).toBe(true);
    await clock.advance(1);
    expect(lease.isTrusted()).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends by itself at the deadline and fires its signal there', async () => {
    const { clock, lease } = setup();
    let firedAtMs: number | undefined;
    lease.signal.addEventListener('abort', () => {
      firedAtMs = clock.now();
    });
    await clock.advance(20_000);
    expect(firedAtMs).toBe(9_000);
    expect(lease.end).toBe('expired');
  });

  it('counts a confirmation from the time it was sent, however late the answer comes', async () => {
    const { clock, lease } = setup();
    await clock.advance(3_000);
    const sent = instant(clock);
    await clock.advance(5_000);
    lease.confirm(sent);
    expect(lease.remainingMs).toBe(4_000);
    lease.finish('released');
  });

  it('is not shortened by a confirmation that was overtaken', async () => {
    const { clock, lease, sent } = setup();
    await clock.advance(3_000);
    lease.confirm(instant(clock));
    lease.confirm(sent);
    expect(lease.remainingMs).toBe(9_000);
    lease.finish('released');
  });

  it('cannot be revived by an answer that arrives after the deadline', async () => {
    const { clock, lease } = setup();
    await clock.advance(8_000);
    const sent = instant(clock);
    await clock.block(2_000);
    lease.confirm(sent);
    expect(lease.isOver()).toBe(true);
    expect(lease.end).toBe('expired');
  });

  it('is over once its deadline has passed even if no timer could fire yet', async () => {
    const { clock, lease } = setup();
    const frozen = new ManualClock();
    const late = new Lease(
      { ...bound(frozen), now: () => clock.now() },
      { lockExpiryMs: 10_000, safetyMarginMs: 1_000 },
      instant(clock),
    );
    await clock.advance(9_000);
    expect(late.end).toBeUndefined();
    expect(late.isOver()).toBe(true);
    expect(late.isTrusted()).toBe(false);
    expect(lease.end).toBe('expired');
  });

  it('is in doubt, and not over, once the wall clock has gone on without the monotonic one by more than the margin', async () => {
    const { clock, lease } = setup();
    clock.stepWall(1_000);
    expect(lease.isTrusted()).toBe(true);
    clock.stepWall(1);
    expect(lease.isTrusted()).toBe(false);
    expect(lease.isOver()).toBe(false);
    expect(lease.signal.aborted).toBe(false);
    lease.confirm(instant(clock));
    expect(lease.isTrusted()).toBe(true);
    lease.finish('released');
    await clock.advance(0);
  });

  it('keeps its first end', () => {
    const { clock, lease } = setup();
    lease.finish('preempted');
    lease.finish('released');
    expect(lease.end).toBe('preempted');
    expect(clock.pendingTimers).toBe(0);
  });
});

function bound(clock: ManualClock) {
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    setTimer: (delayMs: number, fire: () => void) => clock.setTimer(delayMs, fire),
    afterIo: () => clock.afterIo(),
  };
}
