import { describe, expect, it } from '@jest/globals';
import { Identity } from './identity.js';

describe('The identity of a replica', () => {
  it('gives each bid a holder value of its own', () => {
    const identity = new Identity('pod-1-ab12');
    expect([identity.nextHolder(), identity.nextHolder()]).toEqual(['pod-1-ab12#1', 'pod-1-ab12#2']);
  });

  it('knows a value of its own that is in use from one that is not any more', () => {
    const identity = new Identity('pod-1-ab12');
    const holder = identity.nextHolder();
    expect(identity.isStray(holder)).toBe(false);
    identity.retire(holder);
    expect(identity.isStray(holder)).toBe(true);
  });

  it('calls no value stray that is not its own', () => {
    const identity = new Identity('pod-1');
    expect(identity.isStray('pod-1-ab12#1')).toBe(false);
    expect(identity.isStray('pod-1')).toBe(false);
    expect(identity.isStray('somebody')).toBe(false);
  });
});
