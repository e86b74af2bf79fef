import { describe, expect, it } from '@jest/globals';
import { settle } from '../../testing/manual-clock.js';
import { Semaphore } from './semaphore.js';

const NEVER = new AbortController().signal;

describe('A semaphore', () => {
  it('runs so many at once, and the others in order', async () => {
    const slots = new Semaphore(2);
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const work = [0, 1, 2, 3].map((index) =>
      slots.run(() => {
        started.push(index);
        return new Promise<void>((resolve) => finish.push(resolve));
      }, NEVER),
    );
    await settle();
    expect(started).toEqual([0, 1]);
    finish[1]?.();
    await settle();
    expect(started).toEqual([0, 1, 2]);
    finish[0]?.();
    await settle();
    expect(started).toEqual([0, 1, 2, 3]);
    for (const end of finish) end();
    await Promise.all(work);
  });

  it('frees the slot of work that fails', async () => {
    const slots = new Semaphore(1);
    await expect(slots.run(() => Promise.reject(new Error('lost')), NEVER)).rejects.toThrow('lost');
    expect(await slots.run(() => Promise.resolve('next'), NEVER)).toBe('next');
  });

  it('keeps no slot for work that is aborted while it waits', async () => {
    const slots = new Semaphore(1);
    let finish: () => void = () => undefined;
    const first = slots.run(() => new Promise<void>((resolve) => (finish = resolve)), NEVER);
    const leaving = new AbortController();
    const second = slots.run(() => Promise.resolve('begun'), leaving.signal);
    leaving.abort();
    expect(await second).toBeUndefined();
    finish();
    await first;
    expect(await slots.run(() => Promise.resolve('next'), NEVER)).toBe('next');
  });
});
