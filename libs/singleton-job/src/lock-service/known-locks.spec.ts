import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { KnownLocks } from './known-locks.js';

const EXPIRY_MS = 10_000;

function setup() {
  const clock = new ManualClock();
  const locks = new KnownLocks(clock);
  const knownOf = (name: string, expiryMs = EXPIRY_MS) => {
    const { known, leave } = locks.enter(name, expiryMs);
    leave();
    return known;
  };
  return { clock, locks, knownOf };
}

describe('What is known of a lock', () => {
  it('is known for as long as somebody asks for it or has it', async () => {
    const { clock, locks, knownOf } = setup();
    const { known, leave } = locks.enter('a', EXPIRY_MS);
    await clock.advance(24 * 3_600_000);
    expect(knownOf('a')).toBe(known);
    leave();
  });

  it('is known for the longest expiry after that, and no longer', async () => {
    const { clock, knownOf } = setup();
    const known = knownOf('a', 3 * EXPIRY_MS);
    expect(knownOf('a')).toBe(known);
    await clock.advance(3 * EXPIRY_MS - 1);
    expect(knownOf('a')).toBe(known);
    await clock.advance(3 * EXPIRY_MS);
    expect(knownOf('a')).not.toBe(known);
  });

  it('is known for as long as a lock of somebody else was seen to live', async () => {
    const { clock, locks, knownOf } = setup();
    const { known, leave } = locks.enter('a', EXPIRY_MS);
    known.sawLife(60_000);
    leave();
    await clock.advance(59_999);
    expect(knownOf('a')).toBe(known);
  });

  it('does not pile up over many keys, and no timer is set for them', async () => {
    const { clock, locks, knownOf } = setup();
    let most = 0;
    for (let tenant = 0; tenant < 2_000; tenant++) {
      knownOf(`import/${tenant}`);
      // a hundred of them are asked for within the life of a lock
      await clock.advance(EXPIRY_MS / 100);
      most = Math.max(most, locks.size);
    }
    expect(most).toBeLessThanOrEqual(202);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is known while others come and go, however many', () => {
    const { locks, knownOf } = setup();
    const { known, leave } = locks.enter('a', EXPIRY_MS);
    for (let tenant = 0; tenant < 1_000; tenant++) knownOf(`import/${tenant}`);
    expect(knownOf('a')).toBe(known);
    leave();
  });
});
