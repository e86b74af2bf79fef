import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { LockMemories } from './lock-memories.js';

const EXPIRY_MS = 10_000;

function setup() {
  const clock = new ManualClock();
  const memories = new LockMemories(clock);
  const memoryOf = (name: string, expiryMs = EXPIRY_MS) => {
    const { memory, leave } = memories.enter(name, expiryMs);
    leave();
    return memory;
  };
  return { clock, memories, memoryOf };
}

describe('What is known of a lock', () => {
  it('is known for as long as somebody asks for it or has it', async () => {
    const { clock, memories, memoryOf } = setup();
    const { memory, leave } = memories.enter('a', EXPIRY_MS);
    await clock.advance(24 * 3_600_000);
    expect(memoryOf('a')).toBe(memory);
    leave();
  });

  it('is known for the longest expiry after that, and no longer', async () => {
    const { clock, memoryOf } = setup();
    const memory = memoryOf('a', 3 * EXPIRY_MS);
    expect(memoryOf('a')).toBe(memory);
    await clock.advance(3 * EXPIRY_MS - 1);
    expect(memoryOf('a')).toBe(memory);
    await clock.advance(3 * EXPIRY_MS);
    expect(memoryOf('a')).not.toBe(memory);
  });

  it('is known for as long as a lock of somebody else was seen to live', async () => {
    const { clock, memories, memoryOf } = setup();
    const { memory, leave } = memories.enter('a', EXPIRY_MS);
    memory.sawTtl(60_000);
    leave();
    await clock.advance(59_999);
    expect(memoryOf('a')).toBe(memory);
  });

  it('does not pile up over many keys, and no timer is set for them', async () => {
    const { clock, memories, memoryOf } = setup();
    let most = 0;
    for (let tenant = 0; tenant < 2_000; tenant++) {
      memoryOf(`import/${tenant}`);
      // a hundred of them are asked for within the life of a lock
      await clock.advance(EXPIRY_MS / 100);
      most = Math.max(most, memories.size);
    }
    expect(most).toBeLessThanOrEqual(202);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is known while others come and go, however many', () => {
    const { memories, memoryOf } = setup();
    const { memory, leave } = memories.enter('a', EXPIRY_MS);
    for (let tenant = 0; tenant < 1_000; tenant++) memoryOf(`import/${tenant}`);
    expect(memoryOf('a')).toBe(memory);
    leave();
  });
});
