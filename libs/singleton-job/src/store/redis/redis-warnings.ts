import { type Warning } from '../listeners.js';

/** The `maxmemory-policy` is not `noeviction`. With `volatile-…` only keys that expire are evicted: of ours only the locks of `LockService`. */
export function evictionWarning(policy: string): Warning {
  const twice = policy.startsWith('volatile') ? 'give a lock to two holders' : 'run a job or give a lock twice';
  const message = `may ${twice} when Redis is full: its maxmemory-policy is ${policy}. Set it to noeviction`;
  return { code: 'EVICTION_POSSIBLE', message };
}

/** The scripts do not see the run id of the server. `why`: what INFO answered, or what it lacks. */
export function restartsHidden(why: string): Warning {
  const isDenied = /NOPERM|can't run/.test(why);
  const because = isDenied ? 'INFO is not permitted' : 'this service shows scripts no run id';
  const message =
    `cannot tell a restart of Redis from a short outage, because ${because}. After a restart two replicas may lead a job for up to ` +
    `its lockExpiry${isDenied ? '. Permit +info in the ACL' : ''}`;
  return { code: 'RESTARTS_HIDDEN', message };
}
