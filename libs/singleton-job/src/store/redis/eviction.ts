import { isCluster, type RedisClient } from './redis-clients.js';
import { isConnectionLoss } from './redis-errors.js';

/** The one policy under which a server never drops a key that has not expired. */
const NO_EVICTION = 'noeviction';

/**
 * Reads by which policy the server drops keys, locks among them, when its memory is full, and reports it unless it drops none. It
 * does so once per process, on the first connection.
 */
export function evictionCheck(evictionPossible: (policy: string | undefined) => void): (client: RedisClient) => void {
  let isKnown = false;
  return (client) => {
    if (isKnown) return;
    policyOf(client).then(
      (policy) => {
        if (!isKnown && policy !== NO_EVICTION) evictionPossible(policy);
        isKnown = true;
      },
      () => {
        // the connection ended: the next one is checked
      },
    );
  };
}

/** Of a cluster, that of the first server which drops keys. Undefined where the server does not show it. */
async function policyOf(client: RedisClient): Promise<string | undefined> {
  const primaries = isCluster(client) ? client.nodes('master') : [client];
  const policies = await Promise.all(primaries.map((node) => node.info('memory').then(read, notShown)));
  const others = policies.filter((policy) => policy !== NO_EVICTION);
  return others.length === 0 ? NO_EVICTION : others.find((policy) => policy !== undefined);
}

function read(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
}

/** INFO may be denied, and no lock depends on it. */
function notShown(error: unknown): undefined {
  if (isConnectionLoss(error)) throw error;
}
