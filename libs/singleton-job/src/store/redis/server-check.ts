import { OTHER_MODES } from '../../advice/store-errors.js';
import { type Warning } from '../listeners.js';
import { misconfigured } from '../store-errors.js';
import { type RedisClient } from './redis-clients.js';
import { type FailedRequest } from './redis-errors.js';

/**
 * Whether the server may evict keys when its memory is full. INFO may be denied: then everything works all the same.
 *
 * @throws StoreError if the client is for one server, and this is a node of a cluster, or a Sentinel. Some commands
 * happen to work there.
 */
export async function checkServer(client: RedisClient, kind: FailedRequest['kind']): Promise<Warning | undefined> {
  const info = await client.info('default').catch(() => '');
  const field = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const problem = kind === 'cluster' ? undefined : OTHER_MODES[field('(?:redis|server)_mode') ?? ''];
  if (problem !== undefined) throw misconfigured(problem);
  const policy = field('maxmemory_policy') ?? 'noeviction';
  return policy === 'noeviction' ? undefined : evictionWarning(policy);
}

/**
 * The `maxmemory-policy` is not `noeviction`. With `volatile-…` only keys that expire are evicted: of ours only the
 * locks of `LockService`.
 */
export function evictionWarning(policy: string): Warning {
  const twice = policy.startsWith('volatile') ? 'give a lock to two holders' : 'run a job or give a lock twice';
  const message = `may ${twice} when Redis is full: its maxmemory-policy is ${policy}. Set it to noeviction`;
  return { code: 'EVICTION_POSSIBLE', message };
}

/** The scripts do not see the run id of the server. `why`: what INFO answered, or what it lacks. */
export function restartsHidden(why: string): Warning {
  const isDenied = /NOPERM|can't run|ACL failure/.test(why);
  const because = isDenied ? 'INFO is not permitted' : 'this service shows scripts no run id';
  const message =
    `cannot tell a restart of Redis from a short outage, because ${because}. After a restart two replicas may lead a job for up to ` +
    `its lockExpiry${isDenied ? '. Permit +info in the ACL' : ''}`;
  return { code: 'RESTARTS_HIDDEN', message };
}
