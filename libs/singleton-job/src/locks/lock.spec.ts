import { describe, expect, it } from '@jest/globals';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { lockRecord } from '../leadership/record.js';
import { type TermHandle } from '../leadership/term.js';
import { resolveOptions } from '../options/resolve-options.js';
import { settle } from '../testing/manual-clock.js';
import { Lock } from './lock.js';

describe('A lock that is granted', () => {
  const replicas = useReplicas();

  function setup() {
    const { replica, store } = replicas.prepare('a', []);
    const lock = new Lock(lockRecord('x'), {
      options: resolveOptions({ projectName: 'test', store }),
      replica,
    });
    const facts = { name: lock.name, whenOver: () => undefined, deadline: { now: 9_000 } };
    const term = (end: () => TermHandle['end']) =>
      Object.defineProperty({ ...facts }, 'end', { get: end }) as object as TermHandle;
    return { lock, term };
  }

  it('just as its caller aborts is released', async () => {
    const { lock, term } = setup();
    const stop = new AbortController();
    const acquired = lock.acquire(60_000, [stop.signal]);
    await settle();
    stop.abort(new Error('enough'));
    lock.lead(term(() => undefined));
    await expect(acquired).rejects.toThrow('enough');
    expect(lock.owner).toBeUndefined();
  });

  it('just after its caller was refused is its own', async () => {
    const { lock, term } = setup();
    // the lock was lost, and is granted again as soon as a refusal has looked at that
    const lost = term(() => {
      queueMicrotask(() => {
        lock.lead(term(() => undefined));
      });
      return 'expired';
    });
    lock.lead(lost);
    const handle = await lock.acquire(0, []);
    expect(handle).not.toBeNull();
    expect(lock.owner).toBe(handle);
  });
});
