import { type MemoryData } from '../../libs/singleton-job/src/store/memory.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';
import { Chance } from './chance.js';
import { plan } from './faults.js';
import { Rules } from './rules.js';
import { SimulatedServer } from './server.js';
import { EPOCH_MS, SimulatedProcess } from './simulated-process.js';
import { type Fate, FATES, type Fault, type FaultOf, type RequestKind, type Story } from './story.js';

/** A replica has read each record again so long after a message is lost. */
const HINTS_MS = 13_000;

/**
 * Replicas, their clocks, the way to the store and the store, in one process and in virtual time: plays one story. All
 * promises settle between two timers, so a story is always the same.
 */
export class World extends ManualClock {
  readonly setting: Story['setting'];
  readonly chance: Chance;
  readonly processes: SimulatedProcess[] = [];
  readonly server: SimulatedServer;
  readonly rules: Rules;
  readonly log: string[] = [];
  isUp = true;
  /** Meanwhile connections are refused. Otherwise nothing is heard. */
  refuses = true;
  /** Counts the restarts of the server. */
  restarts = 0;
  /** A proxy keeps what has been sent, and the next server gets it. */
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
    super();
    this.setting = story.setting;
    const { seed, isHidden, storeRate } = this.setting;
    this.chance = new Chance(seed);
    this.server = new SimulatedServer({ wallNow: () => EPOCH_MS + this.now() * storeRate }, isHidden ? '' : 's0');
    this.rules = new Rules(this);
  }

  async play(): Promise<this> {
    for (const [place, { startAt }] of this.setting.places.entries())
      this.setTimer(startAt, () => {
        this.start(place);
      });
    for (let count = 0; count < this.setting.webs; count++) this.start(0, 'web');
    for (const fault of this.story.faults) plan(this, fault);
    while (this.now() < this.story.endMs && this.rules.violation === undefined) {
      await this.advance(this.rules.sampleMs);
      this.rules.sample();
    }
    this.rules.end();
    return this;
  }

  say(...words: readonly unknown[]): void {
    if (!this.isTold) return;
    const text = words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)));
    this.log.push(`${this.now().toFixed(1).padStart(9)}  ${text.join(' ')}`);
  }

  // ---- The way to the store

  delay(): number {
    return this.chance.between(this.setting.delayMs[0], this.setting.delayMs[1]);
  }

  /** Undefined: the request arrives, and so does its answer. */
  fateOf(place: number, kind: RequestKind): Fate | undefined {
    const noise = this.noise.find((one) => this.#isDuring(one, place) && (one.only ?? kind) === kind);
    if (noise === undefined || !this.chance.is(noise.share)) return undefined;
    this.rules.faultUntil(this.now());
    return noise.fate ?? this.chance.oneOf(FATES);
  }

  #isDuring({ at, ms, place }: FaultOf<'noise' | 'hints'>, of: number): boolean {
    return at <= this.now() && this.now() < at + ms && (place === undefined || place === of);
  }

  publish(names: readonly string[] | '*'): void {
    for (const { link, place } of this.processes) {
      if (!link.hears) continue;
      const noise = this.hintNoise.find((one) => this.#isDuring(one, place));
      const isDisturbed = noise !== undefined && this.chance.is(noise.share);
      if (isDisturbed) this.rules.faultUntil(this.now() + HINTS_MS);
      if (isDisturbed && this.chance.is(0.6)) continue;
      const ms = isDisturbed ? this.chance.between(0, 5_000) : this.delay();
      for (let times = isDisturbed && this.chance.is(0.5) ? 2 : 1; times > 0; times--)
        this.setTimer(ms * times, () => {
          link.tell((listener) => listener.hint?.(names));
        });
    }
  }

  breakAll(): void {
    if (this.setting.hasProxy) return;
    for (const { link, threadLink } of this.processes) for (const one of [link, threadLink]) one?.break('closed');
  }

  // ---- Processes

  start(place: number, role: SimulatedProcess['role'] = 'replica'): SimulatedProcess {
    const one = new SimulatedProcess(this, `${role[0]}${place}-${this.processes.length}`, place, role);
    this.processes.push(one);
    this.say('START', one.id);
    return one;
  }

  alive(place: number): SimulatedProcess | undefined {
    const replicas = this.processes.filter(({ role }) => role === 'replica');
    if (place < 0) return replicas.find(({ isWell }) => isWell);
    return replicas.find((one) => one.place === place && !one.isOver);
  }

  async die(one: SimulatedProcess): Promise<void> {
    const { clock, threadClock, link, threadLink } = one;
    if (threadClock.isKilled) return;
    if (!one.isOver) this.rules.over(one);
    for (const thread of [clock, threadClock]) thread.kill();
    await Promise.all([link.close(), threadLink?.close()]);
  }

  back({ place, backMs }: { readonly place: number; readonly backMs?: number | undefined }): void {
    if (backMs === undefined) return;
    this.setTimer(backMs, () => {
      if (this.alive(place) !== undefined) return;
      this.start(place);
      this.rules.faultUntil(this.now());
    });
  }

  async stop(one: SimulatedProcess): Promise<void> {
    one.isStopping = true;
    await one.app.stop();
    // what runs keeps the process
    while (this.setting.jobs.some(({ name }) => one.app.isBusy(name)))
      await new Promise<void>((resolve) => one.clock.setTimer(10, resolve));
    await this.die(one);
  }

  /** The last words of a process that crashes. */
  async crash(one: SimulatedProcess): Promise<void> {
    const { thread } = one;
    if (thread !== undefined && one.isRunning) {
      this.rules.over(one);
      this.rules.faultUntil(this.now() + 200);
      await Promise.race([thread.endLeases().catch(() => undefined), this.sleep(200)]);
    }
    await this.die(one);
  }
}
