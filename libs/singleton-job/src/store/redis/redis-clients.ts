import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';

/** A Redis Cluster by some of its nodes. */
export interface ClusterConnection {
  /** Some nodes of the cluster. The client learns the others from them. */
  readonly nodes: readonly ClusterNode[];
  /** Options of `Cluster` of ioredis. @default {} */
  readonly options?: ClusterOptions | undefined;
}

/**
 * Where Redis is: a `redis://` or `rediss://` URL, options of ioredis, the nodes of a cluster, or an ioredis client. A client is
 * duplicated, never shared. The library always sets its own options for retries, queues and read scaling.
 */
export type RedisConnectionOptions = string | RedisOptions | ClusterConnection | Redis | Cluster;

export type RedisClient = Redis | Cluster;

/** ioredis sets it for a client for which nobody did. */
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

// A command is sent at once, or rejects. A client that waits or repeats would hide an outage, and how old an answer is.
const COMMON = { enableAutoPipelining: false, enableOfflineQueue: false, keyPrefix: '', lazyConnect: true };

const EACH_NODE = {
  ...COMMON,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  disconnectTimeout: 100,
  maxLoadingRetryTime: 250,
  maxRetriesPerRequest: 0,
  readOnly: false,
  // a connection that ended is opened again when its password was read: see RedisConnection
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
} satisfies RedisOptions;

// ioredis itself repeats a request up to four times, on the node that it belongs to: a request may be carried out late, and twice.
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

/** A client with the settings of the library, not connected yet. A client that is passed is duplicated: it may be of another version. */
export function newClient(source: RedisConnectionOptions): RedisClient {
  const original = originalClient(source);
  if (!isCluster(original)) return newNodeClient(original);
  // ioredis 5 would replace all redisOptions, and with them user, password and TLS
  return original.duplicate([], { ...CLUSTER, redisOptions: { ...original.options.redisOptions, ...EACH_NODE } });
}

/** The same for one server, or for one node of a cluster. */
export function newNodeClient(node: Redis): Redis {
  return node.duplicate(EACH_NODE);
}

export function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster;
}

/** The connections of a client to one server each. */
export function nodesOf(client: RedisClient): Redis[] {
  return isCluster(client) ? client.nodes() : [client];
}

/** How long a connection may be silent: as long as the shortest lease allows. */
export function silenceFor(shortestLifeMs: number): number {
  return Math.min(1_500, shortestLifeMs / 5);
}

/** Options that ioredis reads at each attempt to connect. The `connectTimeout` of the user counts, up to a third of the lease. */
export function optionsToConnect(source: RedisConnectionOptions, shortestLifeMs: number): RedisOptions {
  const client = originalClient(source);
  const options: RedisOptions = (isCluster(client) ? client.options.redisOptions : client.options) ?? {};
  const { connectTimeout: own = DEFAULT_CONNECT_TIMEOUT_MS, username, password, sentinelPassword } = options;
  const silenceMs = silenceFor(shortestLifeMs);
  const connectTimeout = own === DEFAULT_CONNECT_TIMEOUT_MS ? silenceMs : Math.min(own, shortestLifeMs / 3);
  // each of the nodes that are named may have its own password
  const credentials = typeof password === 'string' ? { username, password, sentinelPassword } : {};
  return { connectTimeout, sentinelCommandTimeout: silenceMs, ...credentials };
}

function originalClient(source: RedisConnectionOptions): RedisClient {
  if (typeof source === 'string') return new Redis(source, { lazyConnect: true });
  if ('duplicate' in source) return source;
  if ('nodes' in source) return new Cluster([...source.nodes], { ...source.options, lazyConnect: true });
  return new Redis({ ...source, lazyConnect: true });
}
