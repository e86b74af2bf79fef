import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { type StoreWarning } from '../lock-store.js';
import { isCluster, type RedisClient } from './redis-clients.js';
import { isConnectionLoss } from './redis-errors.js';
import { IS_CLUSTER, IS_SENTINEL } from './redis-fixes.js';
import { evictionWarning } from './redis-warnings.js';

/** The only policy under which a server never drops a key before it expires. */
const NO_EVICTION = 'noeviction';

interface ServerCheckParts {
  readonly warn: (warning: StoreWarning) => void;
  /** The client is for one server, but this is a node of a cluster, or a Sentinel. Some commands happen to work there. */
  readonly wrongServer: (client: RedisClient, error: LockStoreError) => void;
}

/**
 * Checks the server on the first connection of the process: whether it is of the kind that the client is for, and whether it may
 * evict keys, and with them locks, when its memory is full.
 */
export function serverCheck({ warn, wrongServer }: ServerCheckParts): (client: RedisClient) => void {
  let isKnown = false;
  return (client) => {
    if (isKnown) return;
    const primaries = isCluster(client) ? client.nodes('master') : [client];
    Promise.all(primaries.map((node) => node.info('default').catch(notShown))).then(
      (infos) => {
        const wrong = isCluster(client) ? undefined : wrongMode(infos[0]);
        if (wrong !== undefined) {
          wrongServer(client, misconfigured(wrong));
          return;
        }
        const policy = policyOf(infos);
        // where it is hidden, RESTARTS_HIDDEN names the missing right
        if (!isKnown && policy !== undefined && policy !== NO_EVICTION) warn(evictionWarning(policy));
        isKnown = true;
      },
      () => {
        // the connection ended: the next one is checked
      },
    );
  };
}

function wrongMode(info: string | undefined): string | undefined {
  const mode = read(info, 'redis_mode');
  if (mode === 'cluster') return IS_CLUSTER;
  return mode === 'sentinel' ? IS_SENTINEL : undefined;
}

function misconfigured(message: string): LockStoreError {
  return new LockStoreError('STORE_MISCONFIGURED', message, { wasSent: false, affectsAllJobs: true });
}

/** The eviction policy. On a cluster, that of the first node that evicts keys. Undefined: the server does not show it. */
function policyOf(infos: readonly (string | undefined)[]): string | undefined {
  const policies = infos.map((info) => read(info, 'maxmemory_policy'));
  const others = policies.filter((policy) => policy !== NO_EVICTION);
  return others.length === 0 ? NO_EVICTION : others.find((policy) => policy !== undefined);
}

function read(info: string | undefined, field: string): string | undefined {
  return info === undefined ? undefined : new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1];
}

/** INFO may be denied: then the policy is unknown, and locks work all the same. */
function notShown(error: unknown): undefined {
  if (isConnectionLoss(error)) throw error;
}
