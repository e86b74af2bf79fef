import { type StoreError } from '../../base/errors/store.error.js';
import { type SessionParts } from '../connection.js';
import { HintingStore } from '../hinting-store.js';
import { namesIn } from '../hints.js';
import { type ServerStoreOptions } from '../server-store.js';
import { type CasRequest, type StoredRecord, type SyncRequest, type SyncResult } from '../store.js';
import {
  credentialsOf,
  isCluster,
  newClient,
  newNodeClient,
  type RedisClient,
  type RedisConnectionOptions,
} from './redis-clients.js';
import { type FailedRequest, OF_ANOTHER_NODE, redisError, says, WRONG_TYPE } from './redis-errors.js';
import { RedisSession } from './redis-session.js';
import { COMPARE_AND_SET, SYNC } from './scripts.js';
import { checkServer, restartsHidden } from './server-check.js';

/** All keys and the channel begin with the name of the project in braces: they are in one slot of a cluster. */
export type RedisStoreOptions = ServerStoreOptions<RedisConnectionOptions>;

/** ioredis can return numbers as texts. */
type Numeric = number | string;

/** What {@link SYNC} answers. */
type SyncReply = [time: Numeric, incarnation: string, isFirst: Numeric, hidden: string, leases: Numeric[]];

/** What MGET answers, and the script. */
type Answers = readonly [texts: readonly (string | null)[], reply: SyncReply];

/** In place of a text: a key of another type. */
const UNREADABLE = '';

/** Leases and records in Redis or Valkey, one server or a cluster. */
export class RedisStore extends HintingStore<RedisStoreOptions, RedisSession> {
  readonly name = 'Redis';
  #kind: FailedRequest['kind'] = 'plain';

  protected async sendSync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
    const isKeeping = renew.length + grant.length > 0;
    const actions = Object.entries({ renew, grant, revoke });
    const pairs = actions.flatMap(([action, leases]) => leases.flatMap((lease) => [action, lease]));
    const args = [isKeeping ? (isNewcomer ? 'newcomer' : 'knows') : 'observes', ...pairs];
    const keys = read.map((name) => this.#key(name));
    const [texts, reply] = await this.#send('sync', (client) => this.#readAndSync(client, keys, args));
    const [time, id, isFirst, hidden, list] = reply;
    if (hidden !== '') this.listeners.warn(restartsHidden(hidden));
    const leases = new Map<string, number>();
    for (let i = 0; i < list.length; i += 2) leases.set(String(list[i]), Number(list[i + 1]));
    const since = Number(id.slice(id.lastIndexOf('/') + 1));
    const incarnation = { id, since, isFirst: Number(isFirst) === 1 };
    return { time: Number(time), incarnation, leases, records: texts.map(recordOf) };
  }

  async compareAndSet({ incarnation, until, writes }: CasRequest): Promise<readonly (number | undefined)[]> {
    const keys = [this.#key('leases'), ...writes.map(({ name }) => this.#key(name))];
    const args = writes.flatMap(({ ifRevision, value, forgetAfterMs = '' }) => [ifRevision, value, forgetAfterMs]);
    const revisions = await this.#send('write', (client) =>
      client.eval(COMPARE_AND_SET, keys.length, ...keys, incarnation, until, ...args),
    );
    return (revisions as (string | null)[]).map((revision) => (revision === null ? undefined : Number(revision)));
  }

  protected async newSession(parts: SessionParts): Promise<RedisSession> {
    const client = await newClient(await this.source(), this.minTtlMs, this.answerTimeoutMs());
    if (isCluster(client)) this.#kind = 'cluster';
    else if (this.#kind !== 'server') this.#kind = client.options.tls === undefined ? 'plain' : 'tls';
    return this.#sessionOf(client, parts);
  }

  protected async newSubscriber(parts: SessionParts): Promise<RedisSession> {
    const credentials = await credentialsOf(await this.source());
    const { session } = this.requests;
    const client = session && newNodeClient(session.client, credentials);
    if (client === undefined) throw new Error('no node is connected');
    client.on('message', (_channel, text) => {
      this.listeners.each((listener) => listener.hint?.(namesIn(text)));
    });
    return this.#sessionOf(client, parts);
  }

  /** The answer shows as well whether the connection is alive. */
  protected async hintsArrive({ client }: RedisSession): Promise<boolean> {
    await client.subscribe(this.#key('hints'));
    return true;
  }

  protected sendMessage(text: string): Promise<unknown> {
    return this.#send('publish', (client) => client.publish(this.#key('hints'), text));
  }

  protected toError(error: unknown, request?: string): StoreError {
    return redisError(error, { projectName: this.options.projectName, kind: this.#kind, command: request });
  }

  #sessionOf(client: RedisClient, parts: SessionParts): RedisSession {
    return new RedisSession(client, {
      ...parts,
      check: this.#check.bind(this),
      readCredentials: async () => credentialsOf(await this.source()),
    });
  }

  async #check(client: RedisClient, error: unknown): Promise<void> {
    // for example a wrong database number: ioredis would go on with another database
    if (!isCluster(client) && this.toError(error).code === 'STORE_MISCONFIGURED') throw error;
    const warning = await checkServer(client, this.#kind);
    if (warning !== undefined) this.listeners.warn(warning);
    if (this.#kind !== 'cluster') this.#kind = 'server';
  }

  #key(name: string): string {
    return `{${this.options.projectName}}:${name}`;
  }

  #send<T>(request: string, command: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.requests.send(request, (session) => session.send(command));
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
