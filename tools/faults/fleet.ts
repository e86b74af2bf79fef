import { JOBS } from '../../test/faults/replica/order.js';
import { RedisServer } from '../redis/index.js';
import { Leadership } from './leadership.js';
import { monotonicMs } from './monotonic.js';
import { Proxy } from './proxy.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS, SHUTDOWN_TIMEOUT_MS } from './settings.js';
import { Slot } from './slot.js';
import { type Testimony } from './testimony.js';
import { Wires } from './wires.js';
import { Witness } from './witness.js';

export const PROJECT = 'fleet';
const LETTERS = ['a', 'b', 'c'];
/** Jobs that have a run at least every second and a half, whoever leads. */
const TICKING = ['grid', 'pause', 'cron'];

/** Three replicas of one application, a Redis, a proxy for each between them, and one witness. */
export class Fleet implements AsyncDisposable {
  readonly leadership = new Leadership();
  readonly wires = new Wires();
  readonly witness: Witness;
  readonly slots: readonly Slot[];
  redis: RedisServer;

  private constructor(main: string, { witness, redis, proxies }: FleetParts) {
    this.witness = witness;
    this.redis = redis;
    witness.listen((testimony) => {
      this.leadership.hear(testimony);
    });
    const order = {
      project: PROJECT,
      heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
      lockExpiryMs: LOCK_EXPIRY_MS,
      shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
    };
    this.slots = proxies.map((proxy, index) => {
      proxy.watch = this.wires;
      return new Slot({ letter: LETTERS[index] ?? '', main, witness, proxy, order });
    });
  }

  /** Resolves once all is calm. `main` is what was compiled of the replica application. */
  static async start(main: string, replicas = LETTERS.length): Promise<Fleet> {
    const redis = await RedisServer.start();
    const witness = await Witness.open();
    const proxies = await Promise.all(LETTERS.slice(0, replicas).map(() => Proxy.start(redis.port)));
    const fleet = new Fleet(main, { witness, redis, proxies });
    try {
      await fleet.calm();
      return fleet;
    } catch (error: unknown) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The slot whose replica leads the job. */
  leaderOf(job: string): Slot {
    const [leader, ...others] = this.leadership.of(job);
    const slot = this.slots.find(({ replica }) => replica.name === leader);
    if (slot === undefined || others.length > 0) throw new Error(`${job} has no one leader\n${this.witness.story()}`);
    return slot;
  }

  /**
   * Resolves once every replica lives and reaches Redis, every job has one leader, and the jobs run: all of it since this
   * was called. Rejects with the end of the record if it takes too long.
   */
  async calm(): Promise<void> {
    const fromMs = monotonicMs();
    const isCalm = (): boolean => this.#isLed && TICKING.every((job) => this.#hasRunSince(job, fromMs));
    await this.until('all is calm', isCalm);
    this.witness.note('calm');
  }

  /** Resolves once every replica lives and reaches Redis, and every job has one leader: at once, if it is so. */
  async led(): Promise<void> {
    await this.until('all jobs are led', () => this.#isLed);
  }

  /** Resolves once every job has one leader, even if a replica is gone. */
  async takenOver(): Promise<void> {
    await this.until('all jobs are taken over', () => JOBS.every((job) => this.leadership.of(job).length === 1));
  }

  /** Looks whenever somebody says something: replicas do all the time. */
  async until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return;
    await this.witness.next(what, holds).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.slots.map(({ replica }) => replica.errors).join('')}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.slots.map(({ replica }) => replica.kill()));
    await Promise.all(this.slots.map(({ proxy }) => proxy.close()));
    await this.redis.stop();
    await this.witness[Symbol.asyncDispose]();
  }

  get #isLed(): boolean {
    return (
      this.slots.every(({ replica, proxy }) => replica.exit === undefined && proxy.serves) &&
      JOBS.every((job) => this.leadership.of(job).length === 1)
    );
  }

  #hasRunSince(job: string, fromMs: number): boolean {
    const { record } = this.witness;
    for (let index = record.length - 1; index >= 0; index--) {
      const { atMs, event, job: ran } = record[index] as Testimony;
      if (atMs < fromMs) return false;
      if (event === 'runBegan' && ran === job) return true;
    }
    return false;
  }
}

interface FleetParts {
  readonly witness: Witness;
  readonly redis: RedisServer;
  readonly proxies: readonly Proxy[];
}
