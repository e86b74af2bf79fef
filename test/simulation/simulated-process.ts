import { type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { HaltingClock } from '../support/halting-clock.js';
import { Application, type Thread, threadOf } from './application.js';
import { Link } from './link.js';
import { Watched } from './rules.js';
import { type JobPlan, type PlacePlan } from './story.js';
import { type World } from './world.js';

/** True time when a story begins. */
export const EPOCH_MS = Date.UTC(2027, 0, 1);

/** A timer of Node.js may fire early by less than a millisecond. */
const MAX_EARLY_MS = 0.9;

/** `blocked`: its main thread. `stopped`: SIGSTOP. `suspended`: with its host, whose monotonic clock stops. */
export type Standstill = 'blocked' | 'stopped' | 'suspended';

/** The clock of one thread, with the timers of Node.js. */
export class ThreadClock extends HaltingClock {
  #worksUntil = -Infinity;

  constructor(
    private readonly world: World,
    { rate, skewMs }: Pick<PlacePlan, 'rate' | 'skewMs'>,
  ) {
    super({
      now: () => world.now() * rate,
      wallNow: () => EPOCH_MS + world.now(),
      setTimer: (delayMs, fire) => world.setTimer(delayMs / rate, fire),
      afterIo: () => new Promise((resolve) => world.setTimer(0, resolve)),
    });
    this.aheadMs = skewMs;
  }

  /** For so long it has worked without a break, so it is ahead of the world. */
  get workedMs(): number {
    return Math.max(0, this.#worksUntil - this.world.now());
  }

  work(ms: number): void {
    this.#worksUntil = this.world.now() + ms;
  }

  override now(): number {
    return super.now() + this.workedMs;
  }

  override wallNow(): number {
    return Math.floor(super.wallNow() + this.workedMs);
  }

  override setTimer(delayMs: number, fire: () => void): Timer {
    return super.setTimer(Math.max(Math.ceil(delayMs), 1) - this.world.chance.next() * MAX_EARLY_MS, fire);
  }

  /** What has arrived, also while it stood still, is read before. */
  override async afterIo(): Promise<void> {
    await super.afterIo();
    await new Promise<void>((resolve) => {
      this.deliver(resolve);
    });
  }

  protected override inOrder<T>(waiting: readonly T[]): readonly T[] {
    const { chance } = this.world;
    return chance.is(0.5) ? waiting.toSorted(() => chance.next() - 0.5) : waiting;
  }
}

/** A process with two threads, which may stand still. */
export class SimulatedProcess {
  readonly clock: ThreadClock;
  /** Of its heartbeat thread. */
  readonly threadClock: ThreadClock;
  #standstill: Standstill | undefined;
  isStopping = false;
  readonly link: Link;
  readonly threadLink: Link | undefined;
  readonly thread: Thread | undefined;
  readonly jobs: readonly JobPlan[];
  readonly app: Application;
  /** For the rules. */
  readonly watched = new Watched();
  readonly bornAt: number;
  resumedAt = -Infinity;
  suspendedAt = -Infinity;
  wallSteppedAt = -Infinity;
  wallSetBackAt = -Infinity;

  constructor(
    private readonly world: World,
    readonly id: string,
    readonly place: number,
    /** A replica competes for jobs, a script sends one command, and a web process uses a lock once. */
    readonly role: 'replica' | 'script' | 'web',
  ) {
    const { lacks, other, ...clock } = world.setting.places[place] as PlacePlan;
    this.bornAt = world.now();
    [this.clock, this.threadClock] = [new ThreadClock(world, clock), new ThreadClock(world, clock)];
    this.link = new Link(world, this, this.clock);
    if (world.setting.hasThread) {
      this.threadLink = new Link(world, this, this.threadClock);
      this.thread = threadOf(this.threadClock, this.threadLink);
    }
    this.jobs = world.setting.jobs
      .map((job, index) => (index === 0 ? { ...job, ...other } : job))
      .filter(({ name }) => name !== lacks);
    this.app = new Application(world, this);
  }

  planOf(job: string): JobPlan {
    return this.jobs.find(({ name }) => name === job) as JobPlan;
  }

  /** Nothing runs in it any more: it is dead, or its heartbeat thread alone says goodbye. */
  get isOver(): boolean {
    return this.clock.isKilled;
  }

  get isRunning(): boolean {
    return this.#standstill === undefined && !this.isOver;
  }

  get isWell(): boolean {
    return this.isRunning && !this.isStopping;
  }

  get replica(): Replica {
    return this.app.services.replica;
  }

  /** The instant of what it does. */
  get now(): number {
    return this.world.now() + this.clock.workedMs;
  }

  stepWall(ms: number): void {
    for (const clock of [this.clock, this.threadClock]) clock.aheadMs += ms;
    this.wallSteppedAt = this.world.now();
    if (ms < 0) this.wallSetBackAt = this.world.now();
  }

  /** An observer works. What the main thread does after that in the same turn, it does so much later. */
  observe(ms: number): void {
    if (!this.isRunning) return;
    this.clock.work(ms);
    void this.stand('blocked', ms);
  }

  async stand(how: Standstill, ms: number): Promise<void> {
    if (!this.isRunning) return;
    this.#standstill = how;
    if (how === 'suspended') this.suspendedAt = this.world.now();
    const clocks = how === 'blocked' ? [this.clock] : [this.clock, this.threadClock];
    for (const clock of clocks) clock.halt(how === 'suspended' ? 'suspended' : 'paused');
    await this.world.sleep(ms);
    this.#standstill = undefined;
    this.resumedAt = this.world.now();
    for (const clock of clocks) clock.resume();
  }
}
