import { describe, expect, it } from '@jest/globals';
import { evictionWarning, RESTARTS_HIDDEN } from './redis-warnings.js';

describe('A warning of the Redis store says what to do', () => {
  it.each([
    [
      'allkeys-lru',
      'EVICTION_POSSIBLE',
      'may lose locks when Redis is full, and run jobs twice: its maxmemory-policy is allkeys-lru. Set it to noeviction',
    ],
    [
      undefined,
      'EVICTION_UNKNOWN',
      'cannot read the maxmemory-policy of Redis: INFO is not permitted. It has to be noeviction',
    ],
  ])('about the policy %s', (policy, code, message) => {
    expect(evictionWarning(policy)).toEqual({ code, message });
  });

  it('about a server that hides its restarts', () => {
    expect(RESTARTS_HIDDEN.message).toBe(
      'cannot tell a restart of Redis from a short outage, because INFO is not permitted. After a restart two ' +
        'replicas may lead a job for up to its lockExpiry. Permit +info and +time in the ACL',
    );
  });
});
