import { Application, Thread } from './application.js';
import { type MemoryData } from '../../libs/singleton-job/src/store/memory.js';
import { plan } from './faults.js';
import { Link } from './link.js';
import { Rules } from './rules.js';
import { SimulatedServer } from './server.js';
import { EPOCH_MS, SimulatedProcess } from './simulated-process.js';
import { type Fate, FATES, type Fault, type FaultOf, type PlacePlan, type RequestKind, type Story } from './story.js';
import { Chance, Timeline } from './timeline.js';

/** Replicas, their clocks, the way to the store and the store, in one process: plays one story. */
export class World {
  readonly timeline = new Timeline();
  readonly chance: Chance;
  readonly processes: SimulatedProcess[] = [];
  readonly server: SimulatedServer;
  readonly rules: Rules;
  readonly log: string[] = [];
  isUp = true;
  /** Meanwhile connections are refused. Otherwise nothing is heard. */
  refuses = true;
  /** Counts the restarts of the server. */
  life = 0;
  readonly heldByProxy: (() => void)[] = [];
  stalledUntil = 0;
  readonly snapshots = new Map<Fault, MemoryData>();
  /** As they were when they went down. */
  readonly oldServers: { readonly id: string; readonly data: MemoryData }[] = [];
  readonly noise: FaultOf<'noise'>[] = [];
  readonly hintNoise: FaultOf<'hints'>[] = [];

  /** `isTold`: with a log of what happens. */
  constructor(
    readonly story: Story,
    private readonly isTold = false,
  ) {
    const { seed, isHidden, storeRate } = story.setting;
    this.chance = new Chance(seed);
    this.server = new SimulatedServer({ wallNow: () => EPOCH_MS + this.t * storeRate }, isHidden ? '' : 's0');
    this.rules = new Rules(this);
  }

  get t(): number {
    return this.timeline.t;
  }

  get setting() {
    return this.story.setting;
  }

  async play(): Promise<void> {
    const { setting, endMs } = this.story;
    setting.places.forEach(({ startAt }, place) => {
      this.timeline.at(startAt, () => {
        this.start(place);
      });
    });
    for (const fault of this.story.faults) plan(this, fault);
    this.rules.begin();
    await this.timeline.play(endMs, () => this.rules.violation !== undefined);
    this.rules.end();
  }

  /** Whether the server is up, in this life. */
  serves(life: number): boolean {
    return this.isUp && this.life === life;
  }

  /** Resolves at that time. */
  until(t: number): Promise<void> {
    return new Promise((resolve) => this.timeline.at(t, resolve));
  }

  sleep(ms: number): Promise<void> {
    return this.until(this.t + ms);
  }

  /** A proxy keeps what has been sent, and the next server gets it. */
  nextServer(): Promise<void> {
    return new Promise((resolve) => this.heldByProxy.push(resolve));
  }

  after(ms: number, happen: () => unknown): void {
    this.timeline.at(this.t + ms, happen);
  }

  faultUntil(t: number): void {
    this.rules.faultUntil(t);
  }

  say(...words: readonly unknown[]): void {
    if (!this.isTold) return;
    const text = words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)));
    this.log.push(`${this.t.toFixed(1).padStart(9)}  ${text.join(' ')}`);
  }

  // ---- The way to the store

  delay(): number {
    return this.chance.between(...this.setting.delayMs);
  }

  get stalledMs(): number {
    return Math.max(0, this.stalledUntil - this.t);
  }

  fateOf(place: number, kind: RequestKind): { readonly fate?: Fate; readonly lateMs?: number | undefined } {
    const noise = this.noise.find((one) => this.#isDuring(one, place) && (one.only === undefined || one.only === kind));
    if (noise === undefined || !this.chance.is(noise.share)) return {};
    this.faultUntil(this.t);
    return { fate: noise.fate ?? this.chance.oneOf(FATES), lateMs: noise.lateMs };
  }

  #isDuring({ at, ms, place }: FaultOf<'noise' | 'hints'>, of: number): boolean {
    return at <= this.t && this.t < at + ms && (place === undefined || place === of);
  }

  publish(names: readonly string[] | '*'): void {
    for (const { link, place } of this.processes) {
      if (!link.hears) continue;
      const noise = this.hintNoise.find((one) => this.#isDuring(one, place));
      const isDisturbed = noise !== undefined && this.chance.is(noise.share);
      if (isDisturbed) this.rules.hintDisturbed();
      if (isDisturbed && this.chance.is(0.6)) continue;
      const ms = isDisturbed ? this.chance.between(0, 5_000) : this.delay();
      for (let times = isDisturbed && this.chance.is(0.5) ? 2 : 1; times > 0; times--)
        this.after(ms * times, () => {
          link.hint(names);
        });
    }
  }

  breakAll(): void {
    if (this.setting.hasProxy) return;
    for (const { link, threadLink } of this.processes) {
      link.break('closed');
      threadLink?.break('closed');
    }
  }

  // ---- Processes

  start(place: number): void {
    const { setting, timeline, chance } = this;
    const plan = setting.places[place] as PlacePlan;
    const one = new SimulatedProcess(`r${place}-${this.processes.length}`, place, plan, timeline, chance);
    this.processes.push(one);
    one.link = new Link(this, one, one.deliver);
    if (setting.hasThread) {
      one.threadLink = new Link(this, one, one.deliverToThread);
      one.thread = new Thread(one.clock(one.deliverToThread), one.threadLink);
    }
    const jobs = setting.jobs
      .filter(({ name }) => !plan.without.includes(name))
      .map((job) => ({ ...job, lifeMs: plan.otherLives[job.name] ?? job.lifeMs }));
    one.app = new Application({
      id: one.id,
      clock: one.clock(one.deliver),
      store: one.link,
      chance,
      lifeMs: setting.lifeMs,
      jobs,
      thread: one.thread,
      observer: this.rules.observerOf(one),
    });
    this.say('START', one.id);
  }

  alive(place: number): SimulatedProcess | undefined {
    if (place < 0) return this.processes.find(({ isWell }) => isWell);
    return this.processes.find((one) => one.place === place && one.state !== 'dead' && !one.isOver);
  }

  die(one: SimulatedProcess): void {
    if (one.state === 'dead') return;
    if (!one.isOver) this.rules.over(one);
    one.die();
    this.faultUntil(this.t);
  }

  back({ place, backMs }: { readonly place: number; readonly backMs?: number | undefined }): void {
    if (backMs === undefined) return;
    this.after(backMs, () => {
      if (this.alive(place) !== undefined) return;
      this.start(place);
      this.faultUntil(this.t);
    });
  }

  async stop(one: SimulatedProcess): Promise<void> {
    one.isStopping = true;
    await one.app.stop();
    // what runs keeps the process
    while (this.setting.jobs.some(({ name }) => one.app.isBusy(name)))
      await new Promise<void>((resolve) => one.clock(one.deliver).setTimer(10, resolve));
    this.die(one);
  }

  /** The last words of a process that crashes. */
  crash(one: SimulatedProcess): void {
    const { thread } = one;
    if (thread === undefined || one.state !== 'running') {
      this.die(one);
      return;
    }
    this.rules.over(one);
    const die = (): void => {
      this.die(one);
    };
    void thread.endLeases().then(die, die);
    this.after(200, die);
    this.faultUntil(this.t + 200);
  }
}
