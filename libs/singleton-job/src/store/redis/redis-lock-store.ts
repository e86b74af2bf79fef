import { Listeners } from '../listeners.js';
import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type LockStore,
  type LockStoreListener,
  ownerOf,
  type Progress,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../lock-store.js';
import { type RedisConnection } from './redis-clients.js';
import { RedisGateway } from './redis-connections.js';
import { redisError } from './redis-errors.js';
import { readBid, readClaim, Reply } from './redis-replies.js';
import { readReleaseMessage, writeReleaseMessage } from './release-message.js';
import { ACQUIRE, CLAIM, RELEASE, RENEW, type Script } from './scripts.js';

export interface RedisLockStoreOptions {
  /** First part of every key, and of the channel. */
  readonly projectName: string;
  readonly connection: RedisConnection;
}

/** Locks in Redis or Valkey, one server or a cluster. */
export class RedisLockStore implements LockStore {
  readonly #project: string;
  readonly #channel: string;
  readonly #listeners = new Listeners();
  readonly #redis: RedisGateway;
  #receivers = 0;

  constructor({ projectName, ...options }: RedisLockStoreOptions) {
    this.#project = projectName;
    this.#channel = `${projectName}:released`;
    this.#redis = new RedisGateway({
      ...options,
      channel: this.#channel,
      onReachable: () => {
        this.#listeners.reachable();
      },
      onHearing: () => {
        this.#listeners.hearing();
      },
      onMessage: (text) => {
        const message = readReleaseMessage(text);
        if (message !== undefined) this.#listeners.released(message);
      },
      onDeaf: () => {
        this.#listeners.deaf();
      },
      onRefused: (error) => {
        this.#listeners.refused(error);
      },
      onMayEvict: (policy) => {
        this.#listeners.mayEvict(policy);
      },
    });
  }

  get hearsReleases(): boolean {
    return this.#redis.isSubscribed;
  }

  async acquire(bid: Bid): Promise<Grant | Refusal> {
    const {
      holder,
      lockExpiryMs,
      schedule,
      seenToken,
      seenLast,
      seenRan = 0,
      seenSchedule = '',
      stateTtlMs = '',
    } = bid;
    const args = [holder, lockExpiryMs, schedule, seenToken, seenLast, seenRan, seenSchedule, stateTtlMs];
    return readBid(await this.#run(ACQUIRE, bid.name, args));
  }

  async renew({ name, holder, progress, lockExpiryMs }: Renewal): Promise<RenewalAnswer> {
    const reply = await this.#run(RENEW, name, [holder, ...written(progress), lockExpiryMs]);
    return { held: reply.flag(0), time: reply.number(1) };
  }

  async claim({ name, holder, progress, lockExpiryMs, token, scheduledAt }: Claim): Promise<ClaimAnswer> {
    const args = [holder, ...written(progress), lockExpiryMs, token, scheduledAt];
    return readClaim(await this.#run(CLAIM, name, args));
  }

  async release({ name, holder, progress, quietly }: Release): Promise<ReleaseAnswer> {
    const announcement = quietly ? ['', ''] : [this.#channel, this.#message(ownerOf(holder) ?? holder, [name])];
    const reply = await this.#run(RELEASE, name, [holder, ...written(progress), ...announcement]);
    const receivers = reply.number(2);
    if (receivers >= 0) this.#receivers = receivers;
    const refusal = reply.text(3);
    if (refusal !== '') this.#listeners.refused(redisError(refusal, `Redis refused to publish to '${this.#channel}'`));
    return { released: reply.flag(0), time: reply.number(1) };
  }

  async announce(by: string, names: readonly string[]): Promise<void> {
    this.#receivers = await this.#redis.publish(this.#channel, this.#message(by, names));
  }

  batch(send: () => void): void {
    this.#redis.batch(send);
  }

  listen(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#redis.open();
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  async #run(script: Script, name: string, args: readonly (string | number)[]): Promise<Reply> {
    const lock = `${this.#project}:${name}:lock`;
    // the braces give the state the hash slot of the lock, so that one script may touch both on a cluster
    return new Reply(script.name, await this.#redis.run(script, [lock, `{${lock}}:state`], args));
  }

  #message(by: string, names: readonly string[]): string {
    return writeReleaseMessage({ by, names, receivers: this.#receivers });
  }
}

function written({ ran, endAgeMs, last }: Progress): [number | '', number | '', number | ''] {
  return [ran ?? '', endAgeMs === undefined ? '' : Math.round(endAgeMs), last ?? ''];
}
