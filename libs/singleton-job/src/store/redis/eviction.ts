import { isCluster, type RedisClient } from './redis-clients.js';
import { isConnectionLoss } from './redis-errors.js';

/** The one policy under which a server never drops a key that has not expired. */
const NO_EVICTION = 'noeviction';

/**
 * Asks a connection by which policy its server drops keys when its memory is full, locks among them, and tells it unless
 * that is by none. One command a process: whoever changes the policy later knows what for.
 */
export function evictionCheck(mayEvict: (policy: string | undefined) => void): (client: RedisClient) => void {
  let isKnown = false;
  return (client) => {
    if (isKnown) return;
    policyOf(client).then(
      (policy) => {
        if (!isKnown && policy !== NO_EVICTION) mayEvict(policy);
        isKnown = true;
      },
      () => {
        // the connection ended: the next one is asked
      },
    );
  };
}

/** Of a cluster, that of the first server which drops any. Undefined where it is not shown to us. */
async function policyOf(client: RedisClient): Promise<string | undefined> {
  const primaries = isCluster(client) ? client.nodes('master') : [client];
  const policies = await Promise.all(primaries.map((node) => node.info('memory').then(read, notShown)));
  const others = policies.filter((policy) => policy !== NO_EVICTION);
  return others.length === 0 ? NO_EVICTION : others.find((policy) => policy !== undefined);
}

function read(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
}

/** Not everybody may use INFO, and no lock depends on it. */
function notShown(error: unknown): undefined {
  if (isConnectionLoss(error)) throw error;
}
