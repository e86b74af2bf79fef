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
 * duplicated, never shared. The library always sets its own options for retries, queues, read scaling and replay.
 */
export type RedisConnectionOptions = string | RedisOptions | ClusterConnection | Redis | Cluster;

/** Reads the connection anew: its password may have changed. */
export type ReadRedisConnection = () => Promise<RedisConnectionOptions>;

export type RedisClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1_000;
/** How long a connection may take to close before it is destroyed. */
export const DISCONNECT_TIMEOUT_MS = 100;

// A command is sent at once and once, or fails. A queued or repeated command could take effect after its sender gave up.
const EACH_NODE = {
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  commandTimeout: undefined,
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  enableAutoPipelining: false,
  enableReadyCheck: true,
  keepAlive: 5_000,
  keyPrefix: '',
  maxLoadingRetryTime: 250,
  maxRetriesPerRequest: 0,
  monitor: false,
  noDelay: true,
  reconnectOnError: null,
  socketTimeout: undefined,
  stringNumbers: false,
} satisfies RedisOptions;

// A client that lost its connection is replaced by a new one, which looks the name up again: see ReconnectingClient.
const ONE_SERVER = {
  ...EACH_NODE,
  enableOfflineQueue: false,
  lazyConnect: true,
  readOnly: false,
  retryStrategy: () => null,
  sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
  sentinelRetryStrategy: () => null,
} satisfies RedisOptions;

const CLUSTER = {
  clusterRetryStrategy: () => null,
  enableAutoPipelining: false,
  enableOfflineQueue: false,
  keyPrefix: '',
  lazyConnect: true,
  // enough for a slot that has moved; a slot that is being moved fails
  maxRedirections: 4,
  redisOptions: EACH_NODE,
  retryDelayOnClusterDown: 0,
  retryDelayOnFailover: 0,
  retryDelayOnTryAgain: 0,
  scaleReads: 'master',
  shardedSubscribers: false,
} satisfies ClusterOptions;

/** Creates the clients of one process. None connects by itself. */
export interface RedisClients {
  readonly isCluster: boolean;
  /** The number of the database. 0 on a cluster, which has no others. */
  readonly database: number;
  readonly commands: () => Promise<RedisClient>;
  /** The client for the subscription, which needs its own. Undefined while no node of a cluster is known. */
  readonly subscriber: (connected: RedisClient | undefined) => Promise<Redis | undefined>;
}

/** `read` gives the connection of each client, which is of the same kind as `source`. Without it each is a duplicate of `source`. */
export function redisClients(
  source: RedisConnectionOptions,
  random: () => number,
  read?: ReadRedisConnection,
): RedisClients {
  const first = originalClient(source);
  const original = async (): Promise<RedisClient> => (read === undefined ? first : originalClient(await read()));
  const oneServer = async (): Promise<Redis> => ((await original()) as Redis).duplicate(ONE_SERVER);
  if (!isCluster(first))
    return { isCluster: false, database: first.options.db ?? 0, commands: oneServer, subscriber: oneServer };
  return {
    isCluster: true,
    database: 0,
    commands: async () => ((await original()) as Cluster).duplicate([], CLUSTER),
    subscriber: async (connected) => {
      // each node of a cluster passes on what is published on any other
      const nodes = connected === undefined ? [] : nodesOf(connected);
      const node = nodes[Math.floor(random() * nodes.length)];
      if (node === undefined) return undefined;
      const { username, password } = ((await original()) as Cluster).options.redisOptions ?? {};
      return node.duplicate({ ...ONE_SERVER, ...(read === undefined ? {} : { username, password }) });
    },
  };
}

export function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster;
}

/** The connections of a client to one server each. */
export function nodesOf(client: RedisClient): Redis[] {
  return isCluster(client) ? client.nodes() : [client];
}

function originalClient(source: RedisConnectionOptions): RedisClient {
  if (typeof source === 'string') return new Redis(source, { lazyConnect: true });
  if ('duplicate' in source) return source;
  if ('nodes' in source) return new Cluster([...source.nodes], { ...source.options, lazyConnect: true });
  return new Redis({ ...source, lazyConnect: true });
}
