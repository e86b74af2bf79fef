import { describe, expect, it } from '@jest/globals';
import { lockRecord } from '../leadership/record.js';
import { type Term } from '../leadership/term.js';
import { resolveOptions } from '../options/resolve-options.js';
import { settle } from '../testing/manual-clock.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { Lock } from './lock.js';

describe('A lock that is granted', () => {
  const replicas = useReplicas();

  function setup() {
    const { replica, store } = replicas.prepare('a', []);
    const lock = new Lock(lockRecord('x'), {
      options: resolveOptions({ projectName: 'test', store }),
      replica,
      storeName: 'Redis',
    });
    const term = { name: lock.name, signal: new AbortController().signal, end: undefined, deadline: { now: 9_000 } };
    return { lock, term: term as unknown as Term };
  }

  it('just as its caller aborts is released', async () => {
    const { lock, term } = setup();
    const stop = new AbortController();
    const acquired = lock.acquire(60_000, [stop.signal]);
    await settle();
    stop.abort(new Error('enough'));
    lock.lead(term);
    await expect(acquired).rejects.toThrow('enough');
    expect(lock.owner).toBeUndefined();
  });

  it('just after its caller was refused is its own', async () => {
    const { lock, term } = setup();
    // the lock was lost, and is granted again as soon as a refusal has looked at that
    lock.lead(
      Object.defineProperty({ ...term }, 'end', {
        get: () => {
          queueMicrotask(() => {
            lock.lead(term);
          });
          return 'expired';
        },
      }),
    );
    const handle = await lock.acquire(0, []);
    expect(handle).not.toBeNull();
    expect(lock.owner).toBe(handle);
  });
});
