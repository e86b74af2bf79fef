import { type Redis, type RedisOptions } from 'ioredis';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { hintText, messagesMissing } from '../hints.js';
import { Listeners } from '../listeners.js';
import { type ServerStoreOptions } from '../store-options.js';
import {
  type CasRequest,
  type Store,
  type StoredRecord,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from '../store.js';
import {
  isCluster,
  newClient,
  newNodeClient,
  nodesOf,
  optionsToConnect,
  type RedisClient,
  type RedisConnectionOptions,
  silenceFor,
} from './redis-clients.js';
import { type ConnectionSettings, RedisConnection } from './redis-connection.js';
import { CONNECTION_LOST, type FailedRequest, OF_ANOTHER_NODE, redisError, says, WRONG_TYPE } from './redis-errors.js';
import { restartsHidden } from './redis-warnings.js';
import { COMPARE_AND_SET, SYNC } from './scripts.js';
import { checkServer } from './server-check.js';
import { subscribe } from './subscription.js';

/** All keys and the channel begin with the name of the project in braces: they are in one slot of a cluster. */
export type RedisStoreOptions = ServerStoreOptions<RedisConnectionOptions>;

/** What {@link SYNC} answers. */
type SyncReply = [time: number, incarnation: string, isFirst: number, hidden: string, leases: (string | number)[]];

/** What MGET answers, and the script. */
type Answers = readonly [texts: readonly (string | null)[], reply: SyncReply];

/** In place of a text: a key of another type. */
const UNREADABLE = '';

/** Leases and records in Redis or Valkey, one server or a cluster. */
export class RedisStore implements Store {
  readonly name = 'Redis';
  readonly #listeners = new Listeners();
  readonly #settings: ConnectionSettings;
  readonly #requests: RedisConnection;
  #unsubscribe: (() => void) | undefined;

  constructor(private readonly options: RedisStoreOptions) {
    const { connection, readConnection, shortestLifeMs = 10_000 } = options;
    this.#settings = {
      silenceMs: silenceFor(shortestLifeMs),
      readOptions: async () => optionsToConnect((await readConnection?.()) ?? connection, shortestLifeMs),
    };
    const observer = { check: this.#check, onReady: this.#connected, onLost: this.#lost };
    this.#requests = new RedisConnection(newClient(connection), this.#settings, observer);
  }

  async sync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
    const isKeeping = renew.length + grant.length > 0;
    const actions = Object.entries({ renew, grant, revoke });
    const pairs = actions.flatMap(([action, leases]) => leases.flatMap((lease) => [action, lease]));
    const args = [isKeeping ? (isNewcomer ? 'newcomer' : 'knows') : 'looks', ...pairs];
    const keys = read.map((name) => this.#key(name));
    const [texts, reply] = await this.#send('sync', (client) => this.#readAndSync(client, keys, args));
    const [time, id, isFirst, hidden, list] = reply;
    if (hidden !== '') this.#listeners.warn(restartsHidden(hidden));
    const leases = new Map<string, number>();
    for (let i = 0; i < list.length; i += 2) leases.set(String(list[i]), Number(list[i + 1]));
    const since = Number(id.slice(id.lastIndexOf('/') + 1));
    return { time, incarnation: { id, since, isFirst: isFirst === 1 }, leases, records: texts.map(recordOf) };
  }

  async compareAndSet({ incarnation, until, writes }: CasRequest): Promise<readonly (number | undefined)[]> {
    const keys = [this.#key('leases'), ...writes.map(({ name }) => this.#key(name))];
    const args = writes.flatMap(({ ifRevision, value, forgetAfterMs = '' }) => [ifRevision, value, forgetAfterMs]);
    const revisions = await this.#send('write', (client) =>
      client.eval(COMPARE_AND_SET, keys.length, ...keys, incarnation, until, ...args),
    );
    return (revisions as (string | null)[]).map((revision) => (revision === null ? undefined : Number(revision)));
  }

  async publish(names: readonly string[] | '*'): Promise<void> {
    await this.#send('publish', (client) => client.publish(this.#key('hints'), hintText(names)));
  }

  addListener(listener: StoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#requests.open();
  }

  close(): Promise<void> {
    this.#listeners.clear();
    this.#requests.close();
    this.#unsubscribe?.();
    return Promise.resolve();
  }

  #key(name: string): string {
    return `{${this.options.projectName}}:${name}`;
  }

  /** Records first, and then the leases: a record whose holder has no lease then is free. */
  async #readAndSync(client: RedisClient, keys: readonly string[], args: readonly string[]): Promise<Answers> {
    const sync = [SYNC, 1, this.#key('leases'), ...args] as const;
    const pipeline = client.pipeline();
    if (keys.length > 0) pipeline.mget(...keys);
    const results = (await pipeline.eval(...sync).exec()) ?? [];
    const error = results.map(([failure]) => failure).find((failure) => failure !== null);
    // while a slot is moved, ioredis redirects only single commands
    if (isCluster(client) && says(error, OF_ANOTHER_NODE)) {
      const texts = await Promise.all(keys.map((key) => textOf(client, key)));
      return [texts, (await client.eval(...sync)) as SyncReply];
    }
    if (error != null) throw error;
    const [reply, found = []] = results.map(([, answer]) => answer).reverse() as [SyncReply, (string | null)[]?];
    // MGET answers nil for a key of another type as well. What was absent is absent, even if it has been written since.
    const check = async (key: string): Promise<string | null> =>
      (await textOf(client, key)) === UNREADABLE ? UNREADABLE : null;
    return [await Promise.all(keys.map(async (key, i) => found[i] ?? check(key))), reply];
  }

  /** Right after `open()` a request waits for the first attempt to connect. Later it needs a connection. */
  async #send<T>(
    command: NonNullable<FailedRequest['command']>,
    send: (client: RedisClient) => Promise<T>,
  ): Promise<T> {
    const requests = this.#requests;
    if (requests.state !== 'new') await requests.firstAttempt;
    const { state, client, reason } = requests;
    const isOpen = state === 'connecting' || state === 'ready';
    if (!isOpen) throw new LockStoreError('STORE_UNREACHABLE', 'the store is not open', { wasSent: false });
    if (state !== 'ready') throw this.#error(reason);
    try {
      const answer = await send(client);
      requests.answered();
      return answer;
    } catch (error: unknown) {
      if (command === 'publish') this.#denied(command, error);
      throw this.#error(says(error, CONNECTION_LOST) ? requests.reason : error, command);
    }
  }

  #error(error: unknown, command?: FailedRequest['command']): LockStoreError {
    return redisError(error, { projectName: this.options.projectName, kind: this.#requests.kind, command });
  }

  readonly #lost = (reason: unknown): void => {
    const error = this.#error(reason);
    this.#listeners.each((listener) => listener.disconnected?.(error));
  };

  readonly #check = async (): Promise<void> => {
    const warning = await checkServer(this.#requests.client);
    if (warning !== undefined) this.#listeners.warn(warning);
  };

  readonly #connected = (): void => {
    // only now: the nodes of a cluster must be known
    if (this.options.subscribes !== false) this.#unsubscribe ??= this.#subscribe();
    this.#listeners.each((listener) => listener.connected?.());
  };

  #subscribe(): (() => void) | undefined {
    const { client } = this.#requests;
    // each node of a cluster passes on what is published on any other
    const anyNode = (): Redis | undefined => nodesOf(client)[Math.floor(Math.random() * nodesOf(client).length)];
    const node = anyNode();
    if (node === undefined) return undefined;
    const readOptionsOfAny = async (): Promise<RedisOptions> => {
      const { host, port } = (anyNode() ?? node).options;
      return { ...(await this.#settings.readOptions()), host, port };
    };
    const settings = { ...this.#settings, readOptions: readOptionsOfAny };
    const onDenied = this.#denied.bind(this, 'subscribe');
    const parts = { channel: this.#key('hints'), listeners: this.#listeners, onDenied };
    return subscribe(newNodeClient(node), settings, parts);
  }

  #denied(command: 'publish' | 'subscribe', error: unknown): void {
    const { code, message } = this.#error(error, command);
    if (code === 'STORE_MISCONFIGURED') this.#listeners.warn(messagesMissing(this.name, message));
  }
}

/** A single command: of a cluster it goes to the node that has the key now. */
async function textOf(client: RedisClient, key: string): Promise<string | null> {
  return client.get(key).catch((error: unknown) => {
    if (says(error, WRONG_TYPE)) return UNREADABLE;
    throw error;
  });
}

/** The text of a record is `revision {json}`. */
function recordOf(text: string | null): StoredRecord | 'unreadable' | undefined {
  if (text === null) return undefined;
  const [, revision, value] = /^(\d{1,15}) (.*)$/s.exec(text) ?? [];
  return revision === undefined || value === undefined ? 'unreadable' : { revision: Number(revision), value };
}
