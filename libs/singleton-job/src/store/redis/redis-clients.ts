import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { loadError, loadOnce } from '../client-package.js';

/**
 * Where Redis is: a `redis://` or `rediss://` URL, options of ioredis, the nodes of a cluster, or an ioredis client. A
 * client is duplicated, never shared. The library always sets its own options for retries, queues, numbers and read
 * scaling.
 */
export type RedisConnectionOptions =
  | string
  | RedisOptions
  | {
      /** Some nodes of the cluster. The client learns the others from them. */
      readonly nodes: readonly ClusterNode[];
      /** Options of `Cluster` of ioredis. @default {} */
      readonly options?: ClusterOptions | undefined;
    }
  | Redis
  | Cluster;

export type RedisClient = Redis | Cluster;

/** Loads `ioredis`. Rejects if it is not installed. */
export const loadIoredis = loadOnce(async () => {
  try {
    return await import('ioredis');
  } catch (error: unknown) {
    throw loadError('ioredis', error);
  }
});

/** ioredis sets it for a client for which nobody did. */
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

// A command is sent at once, or rejects. A client that waits or repeats would hide an outage, and how old an answer is.
const COMMON = { enableAutoPipelining: false, enableOfflineQueue: false, keyPrefix: '', lazyConnect: true };

const EACH_NODE = {
  ...COMMON,
  disconnectTimeout: 100,
  maxLoadingRetryTime: 250,
  readOnly: false,
  stringNumbers: false,
  // the next connection has a client of its own, with the password of then. So ioredis repeats no command and no
  // subscription
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
} satisfies RedisOptions;

// ioredis itself repeats a request up to four times, on the node that it belongs to: a request may be carried out late,
// and twice.
const CLUSTER = {
  ...COMMON,
  clusterNodeRetryStrategy: null,
  clusterRetryStrategy: () => null,
  maxRedirections: 4,
  retryDelayOnClusterDown: 100,
  retryDelayOnFailover: 100,
  retryDelayOnTryAgain: 100,
  scaleReads: 'master',
  shardedSubscribers: false,
} satisfies ClusterOptions;

/**
 * A client with the settings of the library, not connected yet. A client that is passed is duplicated: it may be of
 * another version. The `connectTimeout` of the user counts, up to a third of the shortest lease.
 */
export async function newClient(
  source: RedisConnectionOptions,
  minTtlMs: number,
  answerTimeoutMs: number,
): Promise<RedisClient> {
  const original = await originalClient(source);
  const options = optionsOf(original);
  const { connectTimeout: limitMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  const connectTimeout = limitMs === DEFAULT_CONNECT_TIMEOUT_MS ? answerTimeoutMs : Math.min(limitMs, minTtlMs / 3);
  // ioredis 5 would replace all redisOptions, and with them user, password and TLS
  const redisOptions = { ...options, ...EACH_NODE, connectTimeout, sentinelCommandTimeout: answerTimeoutMs };
  return isCluster(original) ? original.duplicate([], { ...CLUSTER, redisOptions }) : original.duplicate(redisOptions);
}

/** A client for one node of a client that is connected. */
export function newNodeClient(client: RedisClient, credentials: RedisOptions): Redis | undefined {
  // each node of a cluster passes on what is published on any other
  const nodes = nodesOf(client);
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate({ ...EACH_NODE, ...credentials });
}

/** What may change from one connection to the next. Each of the nodes that are named may have its own password. */
export async function credentialsOf(source: RedisConnectionOptions): Promise<RedisOptions> {
  const { username, password, sentinelPassword } = optionsOf(await originalClient(source));
  return typeof password === 'string' ? { username, password, sentinelPassword } : {};
}

export function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster;
}

/** The connections of a client to one server each. */
export function nodesOf(client: RedisClient): Redis[] {
  return isCluster(client) ? client.nodes() : [client];
}

function optionsOf(client: RedisClient): RedisOptions {
  return (isCluster(client) ? client.options.redisOptions : client.options) ?? {};
}

async function originalClient(source: RedisConnectionOptions): Promise<RedisClient> {
  const { Cluster, Redis } = await loadIoredis();
  if (typeof source === 'string') return new Redis(source, { lazyConnect: true });
  if ('duplicate' in source) return source;
  if ('nodes' in source) return new Cluster([...source.nodes], { ...source.options, lazyConnect: true });
  return new Redis({ ...source, lazyConnect: true });
}
