import { type Warning } from '../listeners.js';
import { misconfigured } from '../store-errors.js';
import { type RedisClient } from './redis-clients.js';
import { type FailedRequest } from './redis-errors.js';
import { OTHER_MODES } from './redis-fixes.js';
import { evictionWarning } from './redis-warnings.js';

/**
 * Whether the server may evict keys when its memory is full. INFO may be denied: then everything works all the same.
 *
 * @throws LockStoreError if the client is for one server, and this is a node of a cluster, or a Sentinel. Some commands happen to work there.
 */
export async function checkServer(client: RedisClient, kind: FailedRequest['kind']): Promise<Warning | undefined> {
  const info = await client.info('default').catch(() => '');
  const field = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const problem = kind === 'cluster' ? undefined : OTHER_MODES[field('(?:redis|server)_mode') ?? ''];
  if (problem !== undefined) throw misconfigured(problem);
  const policy = field('maxmemory_policy') ?? 'noeviction';
  return policy === 'noeviction' ? undefined : evictionWarning(policy);
}
