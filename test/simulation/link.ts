import {
  type CasRequest,
  type Store,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from '../../libs/singleton-job/src/store/store.js';
import { Listeners } from '../../libs/singleton-job/src/store/listeners.js';
import { type Deliver, type SimulatedProcess } from './simulated-process.js';
import { type RequestKind } from './story.js';
import { type World } from './world.js';

interface Connection {
  readonly life: number;
  readonly open: Set<(error: Error) => void>;
  lastOut: number;
  lastIn: number;
}

/** The parts of a request: the first is done at once, and returns the second. */
type Work<T> = () => () => T;

/** The store as one process sees it, or its heartbeat thread: requests may be lost, late, repeated or refused on the way. */
export class Link implements Store {
  readonly name = 'simulated';
  readonly publish: Store['publish'];
  readonly #listeners = new Listeners();
  #connection: Connection | undefined;
  #isClosed = false;
  #cutUntil = -Infinity;
  #deafUntil = -Infinity;
  /** When the last answered sync was carried out, and when it read the records. */
  syncedAt = -Infinity;
  readAt = -Infinity;

  constructor(
    private readonly world: World,
    private readonly process: SimulatedProcess,
    private readonly deliver: Deliver,
  ) {
    this.publish = world.setting.canPublish ? (names) => this.#publish(names) : undefined;
  }

  addListener(listener: StoreListener): () => void {
    return this.#listeners.add(listener);
  }

  sync(request: SyncRequest): Promise<SyncResult> {
    const { server } = this.world;
    return this.#ask('sync', request, () => server.beginSync(request));
  }

  compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]> {
    const { server, rules } = this.world;
    return this.#ask('compareAndSet', request, () => () => {
      const answer = server.compareAndSet(request);
      rules.written(request, answer);
      return answer;
    });
  }

  async #publish(names: readonly string[] | '*'): Promise<void> {
    if (this.#connection === undefined || this.isCut) throw new Error('not connected');
    this.world.publish(names);
  }

  open(): void {
    this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.break('closed');
  }

  get isCut(): boolean {
    return this.world.t < this.#cutUntil;
  }

  get hears(): boolean {
    return this.#connection !== undefined && !this.isCut && this.world.t >= this.#deafUntil;
  }

  cut(ms: number): void {
    this.#cutUntil = this.world.t + ms;
  }

  /** It says that no messages arrive. */
  deafen(ms: number): void {
    this.#deafUntil = this.world.t + ms;
    const tell = (isListening: boolean): void => {
      if (this.#connection !== undefined) this.#tell((listener) => listener.listening?.(isListening));
    };
    tell(false);
    this.world.after(ms, () => {
      tell(true);
    });
  }

  hint(names: readonly string[] | '*'): void {
    this.#tell((listener) => listener.hint?.(names));
  }

  #tell(report: (listener: StoreListener) => void): void {
    this.deliver(() => {
      this.#listeners.each(report);
    });
  }

  #connect(): void {
    const { world } = this;
    const again = (): void => {
      world.after(world.chance.between(50, 250), () => {
        this.#connect();
      });
    };
    if (this.#isClosed) return;
    if (!world.isUp || this.isCut) again();
    else
      world.after(world.delay(), () => {
        if (this.#isClosed || this.#connection !== undefined) return;
        if (!world.isUp || this.isCut) {
          again();
          return;
        }
        this.#connection = { life: world.life, open: new Set(), lastOut: 0, lastIn: 0 };
        this.#tell((listener) => listener.connected?.());
        if (world.setting.canPublish && this.hears) this.#tell((listener) => listener.listening?.(true));
      });
  }

  /** The connection is lost. Another one follows. */
  break(reason: string): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    const error = new Error(reason);
    for (const fail of connection.open) fail(error);
    this.#tell((listener) => listener.listening?.(false));
    this.#tell((listener) => listener.disconnected?.(error));
    this.#connect();
  }

  #ask<T>(kind: RequestKind, request: SyncRequest | CasRequest, work: Work<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const connection = this.#connection;
      const fail = (error: Error): void => {
        this.deliver(() => {
          connection?.open.delete(fail);
          timeout?.cancel();
          reject(error);
        });
      };
      const answer = (result: T, at: readonly [number, number]): void => {
        this.deliver(() => {
          if (connection?.open.delete(fail) !== true) return;
          timeout?.cancel();
          if (kind === 'sync') [this.readAt, this.syncedAt] = at;
          resolve(result);
        });
      };
      const timeout =
        connection &&
        this.process.clock(this.deliver).setTimer(this.world.setting.timeoutMs, () => {
          fail(new Error('timed out'));
          if (this.#connection === connection) this.break('timed out');
        });
      if (connection === undefined) {
        this.world.after(0, () => {
          fail(new Error('not connected'));
        });
        return;
      }
      connection.open.add(fail);
      this.#send(kind, connection, {
        carryOut: (part, isLate = false) => {
          this.world.say(this.process.id, isLate ? 'LATE' : '', ...inWords(request));
          const result = part();
          this.world.rules.carriedOut(isLate);
          return result;
        },
        work,
        answer,
        fail,
      });
    });
  }

  /** Decides what becomes of a request. */
  #send<T>(
    kind: RequestKind,
    connection: Connection,
    request: {
      readonly work: Work<T>;
      readonly carryOut: (part: () => T, isLate?: boolean) => T;
      readonly answer: (result: T, at: readonly [number, number]) => void;
      readonly fail: (error: Error) => void;
    },
  ): void {
    const { world } = this;
    const { chance, setting } = world;
    const { work, carryOut, answer, fail } = request;
    const { fate, lateMs } = world.fateOf(this.process.place, kind);
    const reject = (): void => {
      fail(new Error('rejected'));
    };
    const later = (ms: number): void => {
      world.faultUntil(world.t + ms);
      world.after(ms, () => {
        if (world.isUp) carryOut(work(), true);
      });
    };
    const arrive = (): void => {
      if (!world.isUp && setting.hasProxy) world.heldByProxy.push(arrive);
      else if (!world.isUp) {
        if (world.refuses) fail(new Error('refused'));
      } else if (world.life === connection.life || setting.hasProxy) {
        const readAt = world.t;
        const { life } = world;
        const part = work();
        if (kind === 'sync' && setting.isSplit)
          world.after(chance.between(0, 2 * setting.delayMs[1]), () => {
            if (world.isUp && world.life === life) finish(part, readAt);
          });
        else finish(part, readAt);
      }
    };
    const finish = (part: () => T, readAt: number): void => {
      const result = carryOut(part);
      const at = [readAt, world.t] as const;
      if (fate === 'doubled') later(chance.is(0.3) ? chance.between(0.05, 1) : chance.between(0, 30_000));
      if (fate === 'answer-lost' || this.isCut) return;
      let back = world.t + world.delay();
      if (setting.isOrdered) back = connection.lastIn = Math.max(back, connection.lastIn + 1e-3);
      world.timeline.at(back, () => {
        if (this.isCut || (world.life !== connection.life && this.#connection !== connection)) return;
        if (fate === 'rejected-after') reject();
        else answer(result, at);
      });
    };

    if (this.isCut || fate === 'lost' || fate === 'late') {
      if (fate === 'late' || (this.isCut && chance.is(0.4)))
        later(lateMs ?? chance.between(5, chance.is(0.5) ? 2_000 : 30_000));
      if (fate === 'late' && chance.is(0.5)) world.after(1, reject);
      return;
    }
    let out = world.t + world.delay() + world.stalledMs;
    if (setting.isOrdered) out = connection.lastOut = Math.max(out, connection.lastOut + 1e-3);
    world.timeline.at(out, fate === 'rejected-before' ? reject : arrive);
  }
}

/** Without what most requests do. */
function inWords(request: SyncRequest | CasRequest): readonly unknown[] {
  if ('writes' in request)
    return request.writes.map(({ name, ifRevision, value }) => `writes ${name} ${ifRevision} ${value}`);
  const { grant, revoke } = request;
  return ['sync', ...(grant.length > 0 ? ['grant', grant] : []), ...(revoke.length > 0 ? ['revoke', revoke] : [])];
}
