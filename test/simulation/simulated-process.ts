import { type Clock, type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { type Application, type Thread } from './application.js';
import { type Link } from './link.js';
import { type PlacePlan } from './story.js';
import { type Chance, type Coming, type Timeline } from './timeline.js';

/** True time when a story begins. */
export const EPOCH_MS = Date.UTC(2027, 0, 1);

/** A timer of Node.js may fire early by less than a millisecond. */
const MOST_EARLY_MS = 0.9;

/**
 * `blocked`: its main thread. `stopped`: SIGSTOP. `suspended`: with its host, whose monotonic clock stands still
 * meanwhile.
 */
export type Standstill = 'blocked' | 'stopped' | 'suspended';

export type Deliver = (what: () => void) => void;

/** A process with two clocks and an event loop, which may stand still. */
export class SimulatedProcess {
  state: 'running' | Standstill | 'dead' = 'running';
  /** Nothing runs in it any more: it is dead, or its heartbeat thread alone says goodbye. */
  isOver = false;
  isStopping = false;
  app!: Application;
  link!: Link;
  thread: Thread | undefined;
  threadLink: Link | undefined;
  readonly bornAt: number;
  #wallStep = 0;
  #suspendedMs = 0;
  /** Whatever waits for it to go on. */
  #waiting: { readonly deliver: Deliver; readonly what: () => void }[] = [];
  /** For the rules. */
  resumedAt = -Infinity;
  suspendedAt = -Infinity;
  wallSteppedAt = -Infinity;

  constructor(
    readonly id: string,
    readonly place: number,
    private readonly plan: PlacePlan,
    private readonly world: Timeline & { readonly chance: Chance },
  ) {
    this.bornAt = world.t;
  }

  now(): number {
    const at = this.state === 'suspended' ? this.suspendedAt : this.world.t;
    return (at - this.bornAt - this.#suspendedMs) * this.plan.rate;
  }

  wallNow(): number {
    return EPOCH_MS + this.world.t + this.aheadMs;
  }

  /** How far its wall clock is ahead. */
  get aheadMs(): number {
    return this.plan.skewMs + this.#wallStep;
  }

  stepWall(ms: number): void {
    this.#wallStep += ms;
    this.wallSteppedAt = this.world.t;
  }

  get replica(): Replica {
    return this.app.replica;
  }

  get isWell(): boolean {
    return this.state === 'running' && !this.isStopping && !this.isOver;
  }

  /** In the main thread. */
  readonly deliver: Deliver = (what) => {
    if (this.state === 'running' && !this.isOver) what();
    else if (this.state !== 'dead') this.#waiting.push({ deliver: this.deliver, what });
  };

  readonly deliverToThread: Deliver = (what) => {
    if (this.state === 'running' || this.state === 'blocked') what();
    else if (this.state !== 'dead') this.#waiting.push({ deliver: this.deliverToThread, what });
  };

  /** As one of its threads sees it. */
  clock(deliver: Deliver): Clock {
    return {
      now: () => this.now(),
      wallNow: () => this.wallNow(),
      setTimer: (delayMs, fire) => this.#setTimer(deliver, delayMs, fire),
      afterIo: async () => {
        if (this.resumedAt !== this.world.t) return;
        // what arrived while it stood still is read before
        await this.world.sleep(0);
        await new Promise<void>(deliver);
      },
    };
  }

  #setTimer(deliver: Deliver, delayMs: number, fire: () => void): Timer {
    const due = this.now() + Math.max(Math.ceil(delayMs), 1) - this.world.chance.next() * MOST_EARLY_MS;
    let coming: Coming | undefined;
    const arm = (): void => {
      coming = this.world.at(this.world.t + Math.max(due - this.now(), 0) / this.plan.rate + 1e-3, () => {
        deliver(wake);
      });
    };
    const cancel = (): void => {
      if (coming !== undefined) coming.happen = undefined;
      coming = undefined;
    };
    const wake = (): void => {
      if (coming === undefined) return;
      if (this.now() < due) {
        arm();
        return;
      }
      cancel();
      fire();
    };
    arm();
    return { cancel };
  }

  /** Answers whether it stands still now. */
  stand(how: Standstill, ms: number): boolean {
    if (this.state !== 'running' || this.isOver) return false;
    this.state = how;
    if (how === 'suspended') this.suspendedAt = this.world.t;
    this.world.after(ms, () => {
      if (this.state === how) this.#goOn();
    });
    return true;
  }

  #goOn(): void {
    const { world } = this;
    if (this.state === 'suspended') this.#suspendedMs += world.t - this.suspendedAt;
    this.state = 'running';
    this.resumedAt = world.t;
    const waiting = this.#waiting.splice(0);
    for (const { deliver, what } of this.world.chance.is(0.5) ? this.world.chance.shuffled(waiting) : waiting)
      world.after(0, () => {
        deliver(what);
      });
  }

  die(): void {
    this.state = 'dead';
    this.#waiting = [];
    void this.link.close();
    void this.threadLink?.close();
  }
}
