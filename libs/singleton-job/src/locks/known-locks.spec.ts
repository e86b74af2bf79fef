import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { KnownLocks } from './known-locks.js';

const EXPIRY_MS = 10_000;

function setup() {
  const clock = new ManualClock();
  const locks = new KnownLocks(clock);
  const knownOf = (name: string, expiryMs = EXPIRY_MS) => {
    const { known, remove } = locks.addUser(name, expiryMs);
    remove();
    return known;
  };
  return { clock, locks, knownOf };
}

describe('What a process knows about a lock', () => {
  it('is kept while a request or a handle of the lock exists', async () => {
    const { clock, locks, knownOf } = setup();
    const { known, remove } = locks.addUser('a', EXPIRY_MS);
    await clock.advance(24 * 3_600_000);
    expect(knownOf('a')).toBe(known);
    remove();
  });

  it('is kept for the longest expiry after that, and no longer', async () => {
    const { clock, knownOf } = setup();
    const known = knownOf('a', 3 * EXPIRY_MS);
    expect(knownOf('a')).toBe(known);
    await clock.advance(3 * EXPIRY_MS - 1);
    expect(knownOf('a')).toBe(known);
    await clock.advance(3 * EXPIRY_MS);
    expect(knownOf('a')).not.toBe(known);
  });

  it('is kept for the life of a lock of another holder that was seen', async () => {
    const { clock, locks, knownOf } = setup();
    const { known, remove } = locks.addUser('a', EXPIRY_MS);
    known.sawLife(60_000);
    remove();
    await clock.advance(59_999);
    expect(knownOf('a')).toBe(known);
  });

  it('does not accumulate over many keys, and sets no timer', async () => {
    const { clock, locks, knownOf } = setup();
    let most = 0;
    for (let tenant = 0; tenant < 2_000; tenant++) {
      knownOf(`import/${tenant}`);
      // a hundred of them are requested within the life of a lock
      await clock.advance(EXPIRY_MS / 100);
      most = Math.max(most, locks.size);
    }
    expect(most).toBeLessThanOrEqual(202);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is kept while many others come and go', () => {
    const { locks, knownOf } = setup();
    const { known, remove } = locks.addUser('a', EXPIRY_MS);
    for (let tenant = 0; tenant < 1_000; tenant++) knownOf(`import/${tenant}`);
    expect(knownOf('a')).toBe(known);
    remove();
  });
});
