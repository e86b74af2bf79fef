import { Listeners } from '../listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type LockOverview,
  type LockStore,
  type LockStoreListener,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StateUpdate,
  type StoreMessage,
} from '../lock-store.js';
import { readMessage, writeMessage } from '../lock-message.js';
import { type ReadRedisConnection, type RedisConnectionOptions } from './redis-clients.js';
import { RedisConnections } from './redis-connections.js';
import { readAcquire, readClaim, readHeartbeat, Reply } from './redis-replies.js';
import { RESTARTS_HIDDEN, RESTARTS_NOT_SHOWN } from './redis-warnings.js';
import { type Script } from './script.js';
import { ACQUIRE, CLAIM, RAISE_PAUSES, RELEASE, RENEW, SET_PAUSED } from './scripts.js';
import { END_SESSION, HEARTBEAT } from './session-scripts.js';

export interface RedisLockStoreOptions {
  /** First part of every key, and of the channel. */
  readonly projectName: string;
  readonly connection: RedisConnectionOptions;
  /** Called for each new client. What it returns is of the same kind. @default every client has `connection` */
  readonly readConnection?: ReadRedisConnection | undefined;
  /** False: messages are not received, and there is no connection for them. @default true */
  readonly subscribes?: boolean;
  /** For the delays between two attempts to connect. In [0, 1). @default Math.random */
  readonly random?: () => number;
}

type Arguments = readonly (string | number)[];

/** Sessions and locks in Redis or Valkey, one server or a cluster. */
export class RedisLockStore implements LockStore {
  readonly name = 'Redis';
  readonly #project: string;
  readonly #channel: string;
  /** The keys of the sessions, of the server record and of the changes. The braces give all the same hash slot of a cluster. */
  readonly #sessionKeys: readonly [string, string, string];
  readonly #listeners = new Listeners();
  readonly #redis: RedisConnections;
  #areRestartsHidden = false;

  constructor(options: RedisLockStoreOptions) {
    const { projectName, connection, readConnection, subscribes = true, random = Math.random } = options;
    this.#project = projectName;
    this.#channel = `${projectName}:events`;
    const sessions = `{${projectName}:sessions}`;
    this.#sessionKeys = [sessions, `${sessions}:server`, `${sessions}:changes`];
    this.#redis = new RedisConnections({
      projectName,
      connection,
      readConnection,
      channel: subscribes ? this.#channel : undefined,
      listeners: this.#listeners,
      onMessage: (text) => {
        const message = readMessage(text, this.#redis.database);
        if (message !== undefined) this.#listeners.each((listener) => listener.message?.(message));
      },
      random,
    });
  }

  get isSubscribed(): boolean {
    return this.#redis.isSubscribed;
  }

  async heartbeat({ sessions, knownList }: HeartbeatRequest): Promise<HeartbeatResult> {
    const kept = sessions.flatMap(({ id, lockExpiryMs, confirmedEnd }) => [id, lockExpiryMs, confirmedEnd ?? '']);
    const args = [knownList?.version ?? '', knownList?.serverSince ?? '', ...kept];
    const result = readHeartbeat(await this.#run(HEARTBEAT, this.#sessionKeys, args));
    if (result.serverId === undefined && !this.#areRestartsHidden) {
      this.#areRestartsHidden = true;
      void this.#redis.isInfoPermitted().then((isPermitted) => {
        const warning = isPermitted ? RESTARTS_NOT_SHOWN : RESTARTS_HIDDEN;
        this.#listeners.each((listener) => listener.warning?.(warning));
      });
    }
    return result;
  }

  async endSession({ id, confirmedEnd }: SessionToKeep): Promise<void> {
    await this.#run(END_SESSION, this.#sessionKeys, [id, confirmedEnd ?? '']);
  }

  async acquire(request: AcquireRequest): Promise<AcquireResult> {
    const {
      name,
      holder,
      lifeMs,
      seenToken,
      endedSession = '',
      knownStateCreatedAt = '',
      notBefore,
      isFirstStart,
    } = request;
    const [serverId, serverSince] = this.#reliesOn(request);
    const first = [holder, lifeMs, seenToken, endedSession, serverId, serverSince];
    const args = [...first, knownStateCreatedAt, notBefore, isFirstStart ? 1 : 0, request.stateLifeMs ?? ''];
    const [lock, state] = this.#lockKeys(name);
    // on a cluster the lock and the sessions may be on different nodes
    const keys = this.#redis.isCluster ? [lock, state] : [lock, state, this.#sessionKeys[1]];
    const reply = await this.#run(ACQUIRE, keys, args);
    const node = this.#redis.isCluster ? reply.text(2) : '';
    return { ...readAcquire(reply), serverId: node === '' ? undefined : node };
  }

  async renew({ name, holder, update, lifeMs, stateLifeMs }: RenewRequest): Promise<RenewResult> {
    const reply = await this.#run(RENEW, this.#lockKeys(name), [holder, ...written(update), lifeMs, stateLifeMs ?? '']);
    const pausedAt = reply.optionalNumber(3);
    return { held: reply.flag(0), holder: reply.optionalText(1), pausedAt, storeTime: reply.number(2) };
  }

  async claim({ name, holder, update, lifeMs, token, scheduledAt }: ClaimRequest): Promise<ClaimResult> {
    const args = [holder, ...written(update), lifeMs, token, scheduledAt];
    return readClaim(await this.#run(CLAIM, this.#lockKeys(name), args));
  }

  async release({ name, holder, token, update }: ReleaseRequest): Promise<ReleaseResult> {
    const message = this.#written({ kind: 'released', locks: [{ name, holder, token }] });
    const args = [holder, ...written(update), this.#channel, message];
    const reply = await this.#run(RELEASE, this.#lockKeys(name), args);
    const denied = reply.text(2);
    if (denied !== '') {
      const error = this.#redis.error(denied, { command: 'publish', key: this.#channel });
      this.#listeners.each((listener) => listener.messagesDenied?.(error));
    }
    return { released: reply.flag(0), storeTime: reply.number(1) };
  }

  async setPaused({ name, isPaused }: SetPausedRequest): Promise<SetPausedResult> {
    const [lock, state] = this.#lockKeys(name);
    const server = this.#sessionKeys[1];
    const { isCluster } = this.#redis;
    const reply = await this.#run(SET_PAUSED, isCluster ? [lock, state] : [lock, state, server], [isPaused ? 1 : 0]);
    // also if nothing has changed: the second request of an earlier attempt may have failed
    if (isCluster) await this.#run(RAISE_PAUSES, [server], []);
    return { storeTime: reply.number(0), holder: reply.optionalText(1), pausedAt: reply.optionalNumber(2) };
  }

  /** All commands leave in one write. On a cluster each goes to its node. */
  async readLocks(names: readonly string[]): Promise<readonly LockOverview[]> {
    return Promise.all(
      names.map(async (name) => {
        const [lock, state] = this.#lockKeys(name);
        const [holder, [lastRun, paused]] = await Promise.all([
          this.#redis.get(lock),
          this.#redis.hmget(state, 'lastRun', 'paused'),
        ]);
        const pausedAt = paused === null || paused === undefined ? undefined : Number(paused);
        return { holder: holder ?? undefined, lastRun: lastRun ?? undefined, pausedAt };
      }),
    );
  }

  publish(message: StoreMessage): Promise<void> {
    return this.#redis.publish(this.#channel, this.#written(message));
  }

  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#redis.open();
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  async #run(script: Script, keys: readonly string[], args: Arguments): Promise<Reply> {
    return new Reply(script.name, await this.#redis.run(script, keys, args));
  }

  /** The braces give the state the hash slot of the lock. */
  #lockKeys(name: string): readonly [string, string] {
    const lock = `${this.#project}:${name}:lock`;
    return [lock, `{${lock}}:state`];
  }

  /** The run id and `since` that the script compares. Empty: there is nothing to compare. */
  #reliesOn({ heartbeat, knownServerId = '' }: AcquireRequest): readonly [string, string | number] {
    if (this.#redis.isCluster) return [knownServerId, ''];
    return heartbeat?.serverId === undefined ? ['', ''] : [heartbeat.serverId, heartbeat.serverSince];
  }

  #written(message: StoreMessage): string {
    return writeMessage(message, this.#redis.database);
  }
}

function written({ claimed, handled, slot, runStartedAt, runEndedAt, schedule, lastRun }: StateUpdate): Arguments {
  const fields = [claimed, handled, slot, whole(runStartedAt), whole(runEndedAt), schedule, lastRun];
  return fields.map((value) => value ?? '');
}

function whole(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.round(time);
}
