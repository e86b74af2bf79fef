import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { LinkedAbortController } from './linked-abort-controller.js';

describe('A linked abort controller', () => {
  it.each([0, 1])('aborts with source %i, before or after it was made', (index) => {
    const sources = [new AbortController(), new AbortController()] as const;
    const signals = sources.map(({ signal }) => signal);
    const before = new LinkedAbortController(...signals);
    expect(before.signal.aborted).toBe(false);
    sources[index]?.abort();
    const after = new LinkedAbortController(...signals);
    expect([before.signal.aborted, after.signal.aborted]).toEqual([true, true]);
  });

  it('leaves no listener once it is disposed of', () => {
    const source = new AbortController();
    const linked = new LinkedAbortController(source.signal);
    linked.dispose();
    expect(getEventListeners(source.signal, 'abort')).toEqual([]);
    source.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});
