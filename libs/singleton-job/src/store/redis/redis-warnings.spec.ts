import { describe, expect, it } from '@jest/globals';
import { evictionWarning, RESTARTS_HIDDEN, RESTARTS_NOT_SHOWN } from './redis-warnings.js';

describe('A warning of the Redis store says what to do', () => {
  it('about a policy that evicts keys', () => {
    expect(evictionWarning('allkeys-lru').message).toBe(
      'may lose locks when Redis is full, and run jobs twice: its maxmemory-policy is allkeys-lru. Set it to noeviction',
    );
  });

  it('about a server that hides its restarts', () => {
    expect(RESTARTS_HIDDEN.message).toBe(
      'cannot tell a restart of Redis from a short outage, because INFO is not permitted. After a restart two ' +
        'replicas may lead a job for up to its lockExpiry. Permit +info and +time in the ACL',
    );
    expect(RESTARTS_NOT_SHOWN.message).not.toContain('Permit');
  });
});
