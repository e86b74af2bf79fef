import { Listeners } from '../../libs/singleton-job/src/store/listeners.js';
import {
  type CasRequest,
  type Store,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from '../../libs/singleton-job/src/store/store.js';
import { type Deferred, deferred } from '../support/deferred.js';
import { type SimulatedProcess, type ThreadClock } from './simulated-process.js';
import { type Fate, type RequestKind } from './story.js';
import { type World } from './world.js';

/** Meanwhile requests may be under way. */
interface Connection {
  readonly restarts: number;
  /** Resolves to the reason, when the process hears of it. */
  readonly lost: Deferred<string>;
  /** When the last request and the last answer arrive. */
  out: number;
  in: number;
}

/** A request on its way: the first part of what the store does returns the second. */
type Request<T> = Readonly<{ kind: RequestKind; words: readonly unknown[]; work: () => () => T }>;

const nothing = (): Promise<never> => new Promise(() => undefined);

/**
 * The store as one process sees it, or its heartbeat thread: requests may be lost, late, repeated or refused on the
 * way.
 */
export class Link implements Store {
  readonly name = 'simulated';
  readonly publish: Store['publish'];
  readonly #listeners = new Listeners();
  #connection: Connection | undefined;
  #isClosed = false;
  cutUntil = -Infinity;
  #deafUntil = -Infinity;
  /** When the last answered sync was carried out, and when it read the records. */
  syncedAt = -Infinity;
  readAt = -Infinity;

  constructor(
    private readonly world: World,
    private readonly process: SimulatedProcess,
    private readonly clock: ThreadClock,
  ) {
    if (!world.setting.canPublish) return;
    this.publish = async (names) => {
      if (this.#connection === undefined || this.isCut()) throw new Error('not connected');
      world.publish(names);
    };
  }

  addListener(listener: StoreListener): () => void {
    return this.#listeners.add(listener);
  }

  async sync(request: SyncRequest): Promise<SyncResult> {
    const { world } = this;
    const { grant, revoke } = request;
    const work = () => {
      const [readAt, finish] = [world.now(), world.server.beginSync(request)];
      return () => ({ result: finish(), at: { readAt, syncedAt: world.now() } });
    };
    // without what most requests do
    const words = grant.length + revoke.length === 0 ? ['sync'] : ['sync', { grant, revoke }];
    const { result, at } = await this.#ask({ kind: 'sync', words, work });
    Object.assign(this, at);
    return result;
  }

  async compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    const { server, rules } = this.world;
    const words = request.writes.map(({ name, ifRevision, value }) => `writes ${name} ${ifRevision} ${value}`);
    const write = () => {
      const were = request.writes.map(({ name }) => server.peek(name));
      const revisions = server.compareAndSet(request);
      for (const [index, write] of request.writes.entries())
        if (revisions[index] !== undefined) rules.written(this.process, write, were[index]);
      return revisions;
    };
    return this.#ask({ kind: 'compareAndSet', words, work: () => write });
  }

  open(): void {
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.break('closed');
  }

  isCut(): boolean {
    return this.world.now() < this.cutUntil;
  }

  get hears(): boolean {
    return this.#connection !== undefined && !this.isCut() && this.world.now() >= this.#deafUntil;
  }

  /** It says that no messages arrive, if they do. */
  async deafen(ms: number): Promise<void> {
    if (!this.world.setting.canPublish) return;
    this.#deafUntil = this.world.now() + ms;
    if (this.#connection !== undefined) this.tell((listener) => listener.listening?.(false));
    await this.world.sleep(ms);
    if (this.#connection !== undefined) this.tell((listener) => listener.listening?.(true));
  }

  /** At once, or when the process continues. */
  tell(report: (listener: StoreListener) => void): void {
    this.clock.deliver(() => {
      this.#listeners.each(report);
    });
  }

  async #connect(): Promise<void> {
    const { world } = this;
    let ms = world.delay();
    do {
      await world.sleep(ms);
      if (this.#isClosed || this.#connection !== undefined) return;
      ms = world.chance.between(50, 250);
    } while (!world.isUp || this.isCut());
    this.#connection = { restarts: world.restarts, lost: deferred(), out: 0, in: 0 };
    this.tell((listener) => listener.connected?.());
    if (world.setting.canPublish && this.hears) this.tell((listener) => listener.listening?.(true));
  }

  /** The connection is lost. Another one follows. */
  break(reason: string): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    this.clock.deliver(() => {
      connection.lost.resolve(reason);
    });
    this.tell((listener) => listener.listening?.(false));
    this.tell((listener) => listener.disconnected?.(new Error(reason)));
    void this.#connect();
  }

  /** Whatever the process hears first counts: the answer, an error, the end of the connection, or the timeout. */
  async #ask<T>(request: Request<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error('not connected');
    const fate = this.world.fateOf(this.process.place, request.kind);
    if (fate === 'hung' && this === this.process.link) {
      this.world.rules.hung(this.process);
      if (this.world.chance.is(0.5)) void this.#travel(request, connection, undefined).catch(() => undefined);
      return nothing();
    }
    const lost = connection.lost.promise.then((reason) => Promise.reject(new Error(reason)));
    const timeout = this.clock.setTimer(this.world.setting.timeoutMs, () => {
      if (this.#connection === connection) this.break('timed out');
    });
    const heard = (): Promise<void> => new Promise(this.clock.deliver.bind(this.clock));
    try {
      return await Promise.race([this.#travel(request, connection, fate).finally(heard), lost]);
    } finally {
      timeout.cancel();
    }
  }

  /** There and back. It never settles if no answer arrives, and rejects with an error that arrives. */
  async #travel<T>({ kind, words, work }: Request<T>, connection: Connection, fate: Fate | undefined): Promise<T> {
    const { world, process } = this;
    const { chance, setting } = world;
    const carryOut = (part: () => T, isLate = false): T => {
      world.say(process.id, isLate ? 'LATE' : '', ...words);
      const value = part();
      world.rules.carriedOut(isLate);
      return value;
    };
    const repeat = async (ms: number): Promise<void> => {
      world.rules.faultUntil(world.now() + ms);
      await world.sleep(ms);
      if (world.isUp) carryOut(work(), true);
    };
    const travel = async (way: 'out' | 'in', ms: number): Promise<void> => {
      const at = world.now() + ms;
      connection[way] = setting.isOrdered ? Math.max(at, connection[way] + 1e-3) : at;
      await new Promise<void>((resolve) => world.setTimer(connection[way] - world.now(), resolve));
    };

    if (this.isCut() || fate === 'lost' || fate === 'late') {
      if (fate === 'late' || (this.isCut() && chance.is(0.4)))
        void repeat(chance.between(5, chance.is(0.5) ? 2_000 : 30_000));
      if (fate === 'late' && chance.is(0.5)) throw new Error('rejected');
      return nothing();
    }
    await travel('out', this.clock.workedMs + world.delay() + Math.max(0, world.stalledUntil - world.now()));
    if (fate === 'rejected-before') throw new Error('rejected');
    while (!world.isUp && setting.hasProxy) await new Promise<void>((resolve) => world.heldByProxy.push(resolve));
    if (!world.isUp && world.refuses) throw new Error('refused');
    const { restarts } = world;
    if (!world.isUp || (!setting.hasProxy && restarts !== connection.restarts)) return nothing();
    const part = work();
    if (kind === 'sync' && setting.isSplit) await world.sleep(chance.between(0, 2 * setting.delayMs[1]));
    if (world.restarts !== restarts) return nothing();
    const answer = carryOut(part);
    if (fate === 'doubled') void repeat(chance.is(0.3) ? chance.between(0.05, 1) : chance.between(0, 30_000));
    if (fate === 'answer-lost' || this.isCut()) return nothing();
    await travel('in', world.delay());
    if (this.isCut() || (world.restarts !== connection.restarts && this.#connection !== connection)) return nothing();
    if (fate === 'rejected-after') throw new Error('rejected');
    return answer;
  }
}
