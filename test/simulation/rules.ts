import { type RunInfo } from '../../libs/singleton-job/src/base/events/run-info.js';
import { type Replies } from '../../libs/singleton-job/src/commands/replies.js';
import { pauseOf } from '../../libs/singleton-job/src/leadership/decide.js';
import { trustedMs } from '../../libs/singleton-job/src/leadership/lease.js';
import { jobOf, type JobRecord, jobRecord, PAUSE_OF_ALL } from '../../libs/singleton-job/src/leadership/record.js';
import { type Term } from '../../libs/singleton-job/src/leadership/term.js';
import { type MemoryData } from '../../libs/singleton-job/src/store/memory.js';
import { type Write } from '../../libs/singleton-job/src/store/store.js';
import { type Observer } from './application.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type CommandKind, type FaultOf, type JobPlan } from './story.js';
import { type World } from './world.js';

/** The rules, by their codes. */
export const RULES = {
  S0: 'a run starts only under a valid term',
  S1: 'two replicas never lead one job, or hold one lock',
  S2: 'fencing tokens grow',
  S3: 'a cron occurrence starts once',
  S4: 'an interval keeps its delay across leaders',
  S5: 'each cron occurrence is started or reported',
  S6: 'each version of a job has one first run',
  L1: 'in calm a replica leads within a TTL, a heartbeat and 1.5 s',
  L2: 'no term ends in calm',
  L3: 'a paused job is released',
  L4: 'a replica can stop',
  L5: 'a lock can be taken in calm',
  L6: 'who leads in calm runs',
  L7: 'in calm a job that is released has a leader at once',
  L8: 'in calm the store answers each replica within a heartbeat and 2 s',
  K1: 'a leader that reaches the store in time goes on through a new incarnation, in the same term',
  K2: 'no old pause of one job comes back with a snapshot while a leader goes on',
  T1: 'a trigger runs once',
  T2: 'the caller of a trigger learns the truth',
  P1: 'what was resumed is not paused',
  P2: 'in calm a caller gets an answer',
};
export type Rule = keyof typeof RULES;

/** What is known of a process. */
export class Watched {
  /** When a record that it has seen was read, by name. */
  readonly recordObservedAt = new Map<string, number>();
  /** When its last sync was carried out, and the last one before an incarnation that it has not settled in. */
  syncedAt = -Infinity;
  answeredAt = -Infinity;
  /** When it first met the store. */
  metAt = Infinity;
  syncedBefore: number | undefined;
  observedAt = -Infinity;
  /** It stops, and nothing was disturbed before. */
  stopsInCalm = false;
  /** By its own clock, which stops with its host: until then a request may count as under way. */
  hungUntil = -Infinity;
  /** The largest fencing token that it has seen, by name. */
  readonly maxTokens = new Map<string, number>();
}

/** What is known of a record. */
class Known {
  /** Its terms, the oldest first. */
  led: readonly Led[] = [];
  maxToken = -Infinity;
  startedAt = -Infinity;
  endedAt = -Infinity;
  /** When it was last led, or had not to be. */
  ledAt = -Infinity;
  pausedSince: number | undefined;
  /** When a replica that stopped in calm released it, and another one wanted it. */
  releasedAt: number | undefined;
  /** When it was lost: with all data, or with the newest, or alone. */
  readonly losses: number[] = [];
  /** In a way that no incarnation shows. */
  lostUnseenAt = -Infinity;
  /** Of a cron job. */
  readonly settled: Settled[] = [];
}

/** Occurrences after one time and up to another, which a replica started or reported. */
interface Settled {
  readonly after: number;
  readonly upTo: number;
  readonly at: number;
}

/** A term that has begun. */
interface Led {
  readonly term: Term;
  readonly process: SimulatedProcess;
  readonly beganAt: number;
  /** A newer term that it was allowed to overlap with. */
  excusedBeside?: Term;
}

/** What a caller wanted. */
interface Call {
  readonly id: string;
  readonly kind: CommandKind;
  readonly name: string;
  readonly at: number;
  /** Another one had no answer yet. */
  readonly isDisputed: boolean;
  outcome: string | undefined;
}

/** Sees everything at real instants, and remembers the first rule that was broken. Exceptions are at the end. */
export class Rules {
  violation: { readonly rule: Rule; readonly text: string } | undefined;
  readonly excused = new Set<string>();
  readonly #known = new Map<string, Known>();
  // calm
  #lastFault = 0;
  readonly #maxTtlMs: number;
  readonly sampleMs: number;
  readonly #heartbeatMs: number;
  /** Of clocks against each other. */
  readonly #drift: number;
  readonly #boundMs: number;
  // what happened to the store
  readonly #ids = new Set<string | undefined>();
  #noted: string | undefined;
  #notedAt = -Infinity;
  /** A first start that is none. */
  #falseFirstAt = -Infinity;
  /** Its clock was set ahead, and in an incarnation that goes on. */
  #aheadAt = -Infinity;
  #jumpedAheadAt = -Infinity;
  /** When its clock was first set back, and the latest time that it had shown before. */
  #setBackAt = Infinity;
  #setBackFrom = -Infinity;
  /** Lost in a restart that not all can notice. */
  #hiddenLossAt = -Infinity;
  /** A server of before has come back. Only these notice, who have met another one in between. */
  #aware: readonly SimulatedProcess[] = [];
  readonly #lostClaims: { readonly name: string; readonly above: number; readonly upTo: number }[] = [];
  // what the replicas did
  readonly #tokenOf = new Map<string, number>();
  /** Cron occurrences that a take passed over, by its holder, which has not led yet. */
  readonly #passedOver = new Map<string, Settled & { readonly name: string }>();
  /** When a holder first wrote in this incarnation. */
  readonly #wroteAt = new Map<string, number>();
  /** Of an occurrence: by which term, and how far it was ahead of the latest time of the store. */
  readonly #starts = new Map<string, readonly [by: Led, aheadMs: number]>();
  #wasLocked = true;
  // what callers wanted
  readonly #calls: Call[] = [];
  readonly #triggered = new Map<string, number>();
  readonly #lostTriggers = new Set<string>();

  constructor(private readonly world: World) {
    const { ttlMs, jobs, places, storeRate } = world.setting;
    this.#drift = Math.max(...places.map(({ rate }) => Math.abs(rate - 1))) + Math.abs(storeRate - 1);
    this.#maxTtlMs = Math.max(ttlMs, ...jobs.map((job) => job.ttlMs));
    this.sampleMs = this.#maxTtlMs < 2_000 ? 100 : 250;
    this.#heartbeatMs = Math.min(3_000, this.#maxTtlMs / 4);
    this.#boundMs = this.#maxTtlMs + this.#heartbeatMs + 1_500;
    // before it is lost
    this.#of(PAUSE_OF_ALL);
  }

  get #t(): number {
    return this.world.now();
  }

  #of(name: string): Known {
    const known = this.#known.get(name) ?? new Known();
    this.#known.set(name, known);
    return known;
  }

  #check(rule: Rule, holds: boolean, text: string): void {
    if (holds || this.violation !== undefined) return;
    this.violation = { rule, text };
    this.world.say('**', rule, text);
  }

  faultUntil(to: number): void {
    this.#lastFault = Math.max(this.#lastFault, to);
  }

  /** A request never settles. After a TTL it counts as failed. */
  hung({ watched, clock }: SimulatedProcess): void {
    watched.hungUntil = clock.now() + this.#maxTtlMs;
    this.faultUntil(this.#t + this.#maxTtlMs);
  }

  #calmMs(since = 0): number {
    return this.#t - Math.max(since, this.#lastFault);
  }

  // ---- Terms

  observerOf(process: SimulatedProcess): Observer {
    const { link, watched } = process;
    return {
      synced: (isNew) => {
        watched.answeredAt = this.#t;
        watched.metAt = Math.min(watched.metAt, this.#t);
        if (isNew) {
          watched.observedAt = this.#t;
          watched.syncedBefore ??= watched.syncedAt;
          return;
        }
        watched.syncedAt = link.syncedAt;
        if (!process.replica.elections.some(({ term }) => term?.reclaim)) watched.syncedBefore = undefined;
      },
      // a leader does not go by what it reads while a write is under way: its answer is newer
      observed: ({ name, writer, observed: { last } }) => {
        const { maxTokens, recordObservedAt } = watched;
        maxTokens.set(name, Math.max(maxTokens.get(name) ?? 0, last.value?.fencingToken ?? 0));
        if (!writer.isOpen) recordObservedAt.set(name, link.readAt);
      },
      led: (term) => {
        watched.maxTokens.set(term.name, term.fencingToken);
        this.#began({ term, process, beganAt: this.#t });
      },
      onEvent: ({ event, payload }) => {
        if (event === 'runStarted') this.#runStarted(process, payload);
        if (event === 'occurrencesMissed') this.#settled(payload.job, payload.from.getTime(), payload.to.getTime());
        if (event === 'tickDropped' && payload.kind === 'cron') {
          const upTo = payload.scheduledAt.getTime();
          this.#settled(payload.job, upTo - payload.count * process.planOf(payload.job).periodMs, upTo);
        }
        if (event === 'runInterrupted' && payload.occurrence !== null) {
          const upTo = payload.occurrence.getTime();
          this.#settled(payload.job, upTo - 1, upTo);
        }
        if ('durationMs' in payload) this.#runEnded(process, payload);
        const { chance, setting } = this.world;
        if (setting.observerMs > 0 && chance.is(0.5)) process.observe(chance.next() * setting.observerMs);
      },
    };
  }

  /** By its own record, or with all jobs. */
  #isPaused(name: string, records = [name, PAUSE_OF_ALL]): boolean {
    const { server } = this.world;
    return records.some((record) => pauseOf(server.peek(record) ?? {}, server.time) !== undefined);
  }

  #began(led: Led): void {
    const { term, process } = led;
    const known = this.#of(term.name);
    const pausedMs = jobOf(term.name) !== undefined && this.#isPaused(term.name) ? this.#calmMs(known.pausedSince) : 0;
    this.#check('L3', pausedMs <= this.#heartbeatMs + 2_000, `${term.name} is taken though paused`);
    known.led = [...known.led, led];
    this.#checkHandOver(term.name, known);
    this.#passedOver.delete(term.holder);
    this.world.say(process.id, 'LEADS', term.name, term.holder, 'token', term.fencingToken);
    term.whenOver(() => {
      if (!process.isOver) this.#ended(led);
    });
    this.#checkOverlap(term.name);
  }

  #ended(led: Led): void {
    const { term, process, beganAt } = led;
    const { name, end, holder } = term;
    this.world.say(process.id, 'ENDS', name, holder, end);
    // a process that ends may leave a run behind, whose lease is not revoked
    if (end !== 'released' || !isBusy(led)) this.#forget(led);
    const election = process.replica.find(name);
    if (election === undefined) return;
    const { value, isUnreadable } = election.observed.fresh ?? {};
    if (end === 'released') {
      if (process.watched.stopsInCalm && this.#isWantedAtOnce(name)) this.#of(name).releasedAt = this.#t;
      const isWish = (call: Call): boolean => call.name === name && call.kind === 'pause' && call.at > beganAt - 3_000;
      const isMeant = !election.isWanted || process.isStopping || this.#calls.some(isWish);
      const pause = pauseOf(value ?? {}, process.replica.context.storeView.storeNow());
      const isOld = pause !== undefined && !isMeant && !this.#isHiddenFrom(process);
      this.#check('K2', !isOld || this.#mayComeBack(this.#of(name)), `${name}: released for an old pause`);
      return;
    }
    this.#check('L2', this.#calmMs() <= this.#boundMs, `${name}: a term ended (${String(end)}) in calm`);
    if (term.reclaim === undefined || this.#isHiddenFrom(process)) return;
    const isOfNow = value?.incarnation === process.replica.context.storeView.incarnation.id;
    const isOther = value?.holder !== undefined && value.holder !== holder && isOfNow;
    const isTaken = isOther || isUnreadable === true || (value?.fencingToken ?? 0) > term.fencingToken;
    this.#check('K1', end !== 'preempted' || isTaken, `${name}: the term was lost in a new incarnation, to none`);
    // nothing has disturbed the replica since it met the incarnation, and that is long enough
    const { observedAt } = process.watched;
    const isInTime = observedAt > Math.max(this.#lastFault, beganAt) && this.#t - observedAt > 0.25 * term.lease.ttlMs;
    this.#check('K1', end !== 'expired' || !isInTime, `${name}: it ended although its replica had reached the store`);
  }

  stops({ watched }: SimulatedProcess): void {
    watched.stopsInCalm = this.#calmMs() > this.#boundMs;
  }

  #isWantedAtOnce(name: string): boolean {
    const isHeard = this.world.processes.every(({ isWell, link }) => !isWell || link.hears);
    return this.world.setting.canPublish && isHeard && !this.#mayBeFree(name) && !this.#isPaused(name);
  }

  #checkHandOver(name: string, known: Known): void {
    const { releasedAt = -Infinity } = known;
    known.releasedAt = undefined;
    const freeMs = this.#t - releasedAt;
    const isInTime = releasedAt < this.#lastFault || freeMs <= this.#handOverMs;
    this.#check('L7', isInTime, `${name}: free for ${freeMs.toFixed(0)} ms`);
  }

  /** A message, two requests, a short random wait, and one for each living lease. */
  get #handOverMs(): number {
    const { server, setting } = this.world;
    return 150 + 2 * server.data.leases.size + 10 * setting.delayMs[1] + 3 * setting.observerMs;
  }

  over(process: SimulatedProcess): void {
    this.world.say(process.id, 'is over');
    for (const known of this.#known.values())
      for (const led of known.led.filter((one) => one.process === process)) {
        if (isBusy(led) && this.#isValid(led)) known.endedAt = this.#t;
        this.#forget(led);
      }
    process.clock.kill();
  }

  #forget(led: Led): void {
    const known = this.#of(led.term.name);
    known.led = known.led.filter((other) => other !== led);
    const pending = repliesOf(led)?.pending;
    if (pending?.outcome === 'started') this.#lostTriggers.add(pending.id);
  }

  /** As the process would find if it looked at its clocks now, and at what its heartbeat thread has reported. */
  #isValid(led: Led | undefined): led is Led {
    if (led === undefined) return false;
    const { process, term } = led;
    const isLeftBehind = term.end === 'released' && isBusy(led);
    if (process.isOver || (term.end !== undefined && !isLeftBehind)) return false;
    let { now, wall } = term.deadline;
    const ms = trustedMs(term.lease.ttlMs);
    for (const { id, incarnation, sent } of process.thread?.reports ?? []) {
      const isOurs = id === term.lease.id && incarnation === process.replica.context.storeView.incarnation.id;
      if (isOurs && term.reclaim === undefined && sent.now + ms > now) [now, wall] = [sent.now + ms, sent.wall + ms];
    }
    return process.clock.now() < now && process.clock.wallNow() < wall;
  }

  #checkOverlap(name: string): void {
    const valid = this.#of(name).led.filter((led) => this.#isValid(led));
    for (const [index, newer] of valid.slice(1).entries()) {
      const older = valid[index] as Led;
      if (older.process === newer.process) continue;
      const isExcused = this.#goesOnBeside(older, newer) || this.#mayOverlap(older, newer);
      this.#check('S1', isExcused, `${name}: ${older.term.holder} and ${newer.term.holder} lead`);
      older.excusedBeside = newer.term;
    }
  }

  // ---- Runs

  #ledBy(process: SimulatedProcess, { job, fencingToken }: RunInfo): Led | undefined {
    const { led } = this.#of(jobRecord(job));
    return led.find((one) => one.process === process && one.term.fencingToken === fencingToken);
  }

  #runEnded(process: SimulatedProcess, info: RunInfo): void {
    const isLed = this.#isValid(this.#ledBy(process, info));
    if (isLed || !this.#mayEndUnseen(process, info.job)) this.#of(jobRecord(info.job)).endedAt = process.now;
  }

  #runStarted(process: SimulatedProcess, info: RunInfo): void {
    const { cause, kind } = info;
    const name = jobRecord(info.job);
    const led = this.#ledBy(process, info);
    const known = this.#of(name);
    known.startedAt = process.now;
    this.#check('S0', this.#isValid(led), `${name}: ${process.id} started without a valid term`);
    if (led === undefined) return;
    if (cause === 'trigger') {
      const command = repliesOf(led)?.ignored.at(-1) ?? '';
      const times = (this.#triggered.get(command) ?? 0) + 1;
      this.#triggered.set(command, times);
      this.#check('T1', times === 1, `${command} ran twice`);
    } else if (cause === 'first-run') {
      const key = `${name} ${process.app.runners.get(info.job)?.job.version}`;
      const [first] = this.#starts.get(key) ?? [];
      this.#starts.set(key, [led, 0]);
      const isExcused = first === undefined || this.#mayRunFirstAgain(known, first, led);
      this.#check('S6', isExcused, `${key} ran first twice, by ${String(first?.process.id)} and ${process.id}`);
    } else if (kind === 'cron') {
      const occurrence = info.scheduledAt.getTime();
      const key = `${name}@${occurrence}`;
      const first = this.#starts.get(key);
      this.world.say(process.id, 'RUNS', key);
      this.#settled(info.job, occurrence - 1, occurrence);
      const storeTime = Math.max(this.world.server.time, this.#setBackFrom);
      this.#starts.set(key, [led, occurrence - storeTime]);
      const isExcused = first === undefined || this.#mayStartAgain(name, occurrence, first, led);
      this.#check('S3', isExcused, `${key} started twice, by ${String(first?.[0].process.id)} and ${process.id}`);
    } else if (kind === 'interval') {
      const { periodMs } = process.planOf(info.job);
      const gapMs = process.now - known.endedAt;
      // the clock of the store is known by the last heartbeat
      const driftMs = (periodMs + this.#heartbeatMs) * this.#drift;
      const isLate = gapMs >= periodMs - driftMs - this.world.setting.delayMs[1] - 3;
      this.#check('S4', isLate || this.#mayRunEarly(known), `${name}: ${gapMs.toFixed(0)} ms after the last run`);
    }
  }

  // ---- The store

  /** A request was carried out. */
  carriedOut(isLate: boolean): void {
    if (isLate) this.faultUntil(this.#t);
    const { noted } = this.world.server.data;
    if (noted?.id === this.#noted) return;
    if (this.#ids.size > 0 && noted?.isFirst === true && !this.#ids.has(noted.id)) this.#falseFirstAt = this.#t;
    this.#noted = noted?.id;
    this.#ids.add(noted?.id);
    this.#notedAt = this.#t;
    this.#wroteAt.clear();
    this.faultUntil(this.#t);
    this.world.say('INCARNATION', noted);
  }

  /** `was`: the record before. */
  written({ watched }: SimulatedProcess, { name, value }: Write, was: JobRecord | undefined): void {
    const { holder, fencingToken = 0, lastScheduledAt: upTo = 0 } = JSON.parse(value) as JobRecord;
    if (holder === undefined) return;
    if (!this.#wroteAt.has(holder)) this.#wroteAt.set(holder, this.#t);
    const known = this.#of(name);
    const before = this.#tokenOf.get(holder);
    if (before === fencingToken) return;
    this.#check('S2', before === undefined, `${name}: the token of ${holder} changed`);
    const isNewHere = fencingToken > (watched.maxTokens.get(name) ?? 0);
    const isLarger = fencingToken > known.maxToken || (isNewHere && this.#mayRepeatToken(known));
    this.#check('S2', isLarger, `${name}: ${fencingToken} after ${known.maxToken}`);
    this.#tokenOf.set(holder, fencingToken);
    // over lost data it hides all since the last tick
    const after = was?.lastScheduledAt ?? known.settled.at(-1)?.upTo ?? upTo;
    this.#passedOver.set(holder, { name, after, upTo, at: this.#t });
    known.maxToken = Math.max(known.maxToken, fencingToken);
  }

  restarted({ data, clockMs }: FaultOf<'restart'>, before: MemoryData): void {
    const { server, processes, setting } = this.world;
    const isUnseen = setting.isHidden || data === 'old' || data === 'rolled-back';
    this.clockJumped(clockMs, isUnseen);
    if (data === 'kept') return;
    if (isUnseen) {
      const noted = server.data.noted?.id;
      this.#hiddenLossAt = this.#t;
      this.#aware = processes.filter(
        ({
          replica: {
            context: { storeView },
          },
        }) => !storeView.isEmpty && storeView.incarnation.id !== noted,
      );
    }
    this.dataLost(before);
    if (isUnseen) for (const known of this.#known.values()) known.lostUnseenAt = this.#t;
  }

  dataLost(before: MemoryData): void {
    for (const known of this.#known.values()) known.losses.push(this.#t);
    for (const [name, { value }] of before.records) {
      const { lastScheduledAt: upTo = 0 } = JSON.parse(value) as JobRecord;
      const above = this.world.server.peek(name)?.lastScheduledAt ?? 0;
      if (above < upTo) this.#lostClaims.push({ name, above, upTo });
    }
  }

  recordLost(name: string): void {
    this.faultUntil(this.#t + 13_000);
    const known = this.#of(name);
    known.lostUnseenAt = this.#t;
    known.losses.push(this.#t);
    this.#lostClaims.push({ name, above: 0, upTo: Infinity });
  }

  /** `isUnseen`: in an incarnation that goes on. */
  clockJumped(ms: number, isUnseen = true): void {
    if (ms < 0) {
      this.#setBackAt = Math.min(this.#setBackAt, this.#t);
      this.#setBackFrom = Math.max(this.#setBackFrom, this.world.server.time - ms);
    }
    if (ms > 0) this.#aheadAt = this.#t;
    if (ms > 0 && isUnseen) this.#jumpedAheadAt = this.#t;
  }

  // ---- Whether things go on, at samples

  /** Called every `sampleMs`. */
  sample(): void {
    for (const name of this.#known.keys()) this.#checkOverlap(name);
    for (const { id, isWell, bornAt, watched, clock } of this.world.processes) {
      if (isWell && clock.now() < watched.hungUntil) this.faultUntil(this.#t);
      const silentMs = isWell ? this.#calmMs(Math.max(bornAt, watched.answeredAt)) : 0;
      this.#check('L8', silentMs <= this.#heartbeatMs + 2_000, `${id} got no answer for ${silentMs.toFixed(0)} ms`);
    }
    for (const { name: job, longRunMs } of this.world.setting.jobs) {
      const name = jobRecord(job);
      const known = this.#of(name);
      const led = known.led.find((one) => this.#isValid(one));
      const isPaused = this.#isPaused(name);
      if (isPaused) known.releasedAt = undefined;
      known.pausedSince = isPaused ? (known.pausedSince ?? this.#t) : undefined;
      if (led !== undefined || isPaused || this.#mayBeFree(name)) known.ledAt = this.#t;
      const freeMs = this.#calmMs(known.ledAt);
      this.#check('L1', freeMs <= this.#boundMs, `${name}: no leader for ${freeMs.toFixed(0)} ms of calm`);
      if (led === undefined) continue;
      const pausedMs = isPaused ? this.#calmMs(known.pausedSince) : 0;
      this.#check('L3', pausedMs <= 11_000 + this.#heartbeatMs + longRunMs, `${name} is led though paused`);
      // a cron occurrence may be claimed already, by a clock that is ahead
      const { kind, periodMs } = led.process.planOf(job);
      const isDue = kind !== 'cron' && !isBusy(led) && !isPaused && led.term.end === undefined;
      const idleMs = this.#calmMs(Math.max(led.beganAt, known.startedAt, known.endedAt));
      this.#check('L6', !isDue || idleMs <= 2.2 * periodMs + 1_500, `${name} does not run`);
    }
  }

  /** A run of before is waited for where its lease goes on, or no replica that is well wants it or can read it. */
  #mayBeFree(name: string): boolean {
    const { processes, server } = this.world;
    const isWanted = processes.some(
      ({ isWell, link, replica }) => isWell && !link.isCut() && replica.find(name)?.isWanted === true,
    );
    const isRunning = processes.some(({ isOver, app }) => !isOver && app.isBusy(jobOf(name) ?? ''));
    return !isWanted || isRunning || server.isUnreadable(name) || this.#isHeldUnseen(name);
  }

  killedInStop({ id, app }: SimulatedProcess, since: number): void {
    const isBusy = this.world.setting.jobs.some(
      ({ name }) => app.isBusy(name) || this.#t - this.#of(jobRecord(name)).endedAt < 1_000,
    );
    this.#check('L4', isBusy || this.#lastFault > since + 1, `${id} could not stop`);
  }

  /** The last caller of a lock. */
  lastLock(): () => void {
    this.#wasLocked = false;
    return () => (this.#wasLocked = true);
  }

  #settled(job: string, after: number, upTo: number): void {
    this.#of(jobRecord(job)).settled.push({ after, upTo, at: this.#t });
  }

  /** A later one that is settled shows that no replica looks at it again. */
  #checkOccurrences({ name: job, periodMs: period }: JobPlan): void {
    const { settled } = this.#of(jobRecord(job));
    let [last] = settled;
    for (const next of settled.toSorted((a, b) => a.after - b.after)) {
      if (last === undefined) return;
      const missing = (Math.floor(last.upTo / period) + 1) * period;
      const isSettled = missing > next.after || this.#mayBeUnsettled(job, last, next);
      this.#check('S5', isSettled, `${job}@${missing} was neither started nor reported`);
      if (next.upTo > last.upTo) last = next;
    }
  }

  // ---- What callers wanted

  asked(id: string, kind: CommandKind, name: string): Call {
    const isDisputed = this.#calls.some((call) => call.name === name && call.outcome === undefined);
    const call: Call = { id, kind, name, at: this.#t, isDisputed, outcome: undefined };
    this.#calls.push(call);
    return call;
  }

  answered(call: Call, outcome: string): void {
    const { id, kind, name, at, isDisputed } = call;
    call.outcome = outcome;
    this.world.say(id, kind, outcome);
    // a leader that has been heard of since the last fault
    const isLast = this.#calls.findLast((one) => one.name === name || one.name === PAUSE_OF_ALL) === call;
    const isLed = this.#of(name).led.some(
      (led) => (this.#wroteAt.get(led.term.holder) ?? at) < at && this.#isValid(led),
    );
    const isCalm = this.#lastFault < at && !this.world.server.isUnreadable(name);
    const mustSucceed = isOfPause(call) || (isLed && isLast && !isDisputed && this.#lastFault + this.#heartbeatMs < at);
    this.#check('P2', outcome !== 'no-answer' || !isCalm || !mustSucceed, `${id}: no answer to ${kind} in calm`);
  }

  /** The story is over. */
  end(): void {
    for (const passed of this.#passedOver.values())
      if (this.#mayBeUnreported(passed)) this.#of(passed.name).settled.push(passed);
    const { jobs, places } = this.world.setting;
    // a leader of another kind reports none
    const isMixed = places.some(({ other }) => other.kind !== undefined);
    for (const plan of isMixed ? jobs.slice(1) : jobs) if (plan.kind === 'cron') this.#checkOccurrences(plan);
    for (const { id, kind, outcome } of this.#calls) {
      if (kind !== 'trigger' || outcome === undefined) continue;
      const times = this.#triggered.get(id) ?? 0;
      const isTrue = outcome === 'done' ? times === 1 || this.#mayBeLost(id) : outcome === 'no-answer' || times === 0;
      this.#check('T2', isTrue, `${id}: ${outcome}, but ran ${times} times`);
    }
    for (const name of [...jobs.map((job) => jobRecord(job.name)), PAUSE_OF_ALL]) {
      const call = this.#calls.findLast((one) => one.name === name && isOfPause(one));
      if (
        call?.outcome !== 'done' ||
        call.kind.startsWith('pause') ||
        call.isDisputed ||
        (this.#of(name).losses.at(-1) ?? 0) > call.at
      )
        continue;
      this.#check('P1', this.world.server.peek(name)?.pause === undefined, `${name} is paused after a resume`);
    }
    this.#check('L5', this.#wasLocked || this.#wasReleasedUnseen(), 'the lock cannot be taken in calm');
  }

  // ---- Exceptions: what the design does not promise, and the fact that allows it

  #excuse(facts: Readonly<Record<string, boolean>>): boolean {
    const why = Object.keys(facts).find((one) => facts[one]);
    if (why !== undefined) this.excused.add(why);
    return why !== undefined;
  }

  #isHiddenFrom(process: SimulatedProcess): boolean {
    return this.#hiddenLossAt > 0 && !this.#aware.includes(process);
  }

  /** An overlap that was allowed goes on until a new incarnation is settled, and until both have seen the record. */
  #goesOnBeside(older: Led, newer: Led): boolean {
    const hasSeen = ({ process: { watched } }: Led, { term: { name, holder } }: Led): boolean =>
      (watched.recordObservedAt.get(name) ?? -Infinity) > (this.#wroteAt.get(holder) ?? Infinity);
    const isReclaiming = older.term.reclaim !== undefined || newer.term.reclaim !== undefined;
    const isUnknown = !hasSeen(older, newer) || !hasSeen(newer, older);
    return older.excusedBeside === newer.term && (isReclaiming || isUnknown);
  }

  #mayOverlap({ process, term: { name, holder, lease, reclaim } }: Led, newer: Led): boolean {
    const { watched, suspendedAt, wallSetBackAt } = process;
    const { syncedAt, syncedBefore = syncedAt } = watched;
    const { losses, lostUnseenAt } = this.#of(name);
    // of its lease
    const sureAt = reclaim === undefined ? syncedAt : syncedBefore;
    const isYounger = newer.process.bornAt > (losses.at(-1) ?? Infinity);
    const isReclaiming = reclaim !== undefined;
    const isUnsettled = isReclaiming || syncedAt < this.#notedAt;
    return this.#excuse({
      'after a loss, a new process with a shorter TTL':
        isYounger && newer.term.lease.ttlMs < lease.ttlMs && isUnsettled,
      'suspended, and its wall clock was set back, since its last sync':
        Math.min(suspendedAt, wallSetBackAt) > syncedAt,
      'clock of the store set ahead, until the next sync': sureAt < this.#jumpedAheadAt,
      'record deleted, or another server without a new id, until it is read':
        (watched.recordObservedAt.get(name) ?? -Infinity) < lostUnseenAt,
      'after a loss of all data, a new process before any old one': sureAt < this.#falseFirstAt,
      'another server without a new id, until the holder has written there':
        (isReclaiming || !this.#wroteAt.has(holder)) && this.#isHiddenFrom(newer.process),
    });
  }

  #mayStartAgain(name: string, at: number, [first, aheadMs]: readonly [Led, number], again: Led): boolean {
    const isLost = this.#lostClaims.some((lost) => lost.name === name && at > lost.above && at <= lost.upTo);
    return this.#excuse({
      'a run, by two leaders': ledBeside(first, again),
      'claim lost, by a server without a new id': isLost && this.#isHiddenFrom(again.process),
      'claim lost, of a leader whose clock was ahead': isLost && aheadMs > 0,
      'claim lost, and the clock of the store set back before the process met it':
        isLost && again.process.watched.metAt > this.#setBackAt,
    });
  }

  #mayRunFirstAgain({ losses }: Known, first: Led, again: Led): boolean {
    return this.#excuse({
      'a run, by two leaders': ledBeside(first, again),
      'a first run, after a loss': losses.some((at) => at > first.beganAt),
    });
  }

  #mayBeUnsettled(job: string, before: Settled, after: Settled): boolean {
    // a leader may report some more before it notices
    const since = before.at - this.#maxTtlMs;
    const isLost = this.#of(jobRecord(job)).losses.some((at) => at > since && at <= after.at);
    return this.#excuse({ 'cron occurrences, after a loss': isLost });
  }

  /** By a leader that never led, and of which the record does not tell the next one. */
  #mayBeUnreported({ after, upTo }: Settled): boolean {
    return this.#excuse({ 'cron occurrences, after a take without an answer': upTo > after });
  }

  /** Tokens follow the clock of the store. */
  #mayRepeatToken({ losses }: Known): boolean {
    return this.#excuse({
      'token that the replica has not seen, after a loss and with the clock set back':
        losses.length > 0 && this.#setBackAt < Infinity,
    });
  }

  /** The newer record is the one with the larger revision, and revisions follow the clock of the store too. */
  #mayComeBack({ losses }: Known): boolean {
    return this.#excuse({
      'an old pause, after a loss and with the clock set back': losses.length > 1 && this.#setBackAt < Infinity,
    });
  }

  #mayRunEarly({ endedAt, losses }: Known): boolean {
    const since = endedAt - 10_000;
    return this.#excuse({
      'interval, after a loss': losses.some((at) => at > since - this.#maxTtlMs),
      'interval, after the clock was set ahead': this.#aheadAt > since,
    });
  }

  /** A run that outlived its lease, because its process stood still or it does not end: no replica can see its end. */
  #mayEndUnseen(process: SimulatedProcess, job: string): boolean {
    return process.planOf(job).isStubborn || process.resumedAt >= this.#of(jobRecord(job)).startedAt;
  }

  #mayBeLost(trigger: string): boolean {
    if (this.#triggered.has(trigger)) return false;
    const { at = Infinity } = this.#calls.find(({ id }) => id === trigger) ?? {};
    return this.#excuse({
      'a claimed trigger whose leader had its wall clock set': this.world.processes.some((p) => p.wallSteppedAt >= at),
      'a claimed trigger whose term ended first': this.#lostTriggers.has(trigger),
    });
  }

  /** A holder that lives and does not want the record any more has come back. */
  #isHeldUnseen(name: string): boolean {
    const holder = this.world.server.peek(name)?.holder;
    const replicaOfHolder = this.world.processes.find(({ id }) => holder?.startsWith(`${id}.`) === true);
    const isUnwanted = replicaOfHolder?.isWell === true && replicaOfHolder.replica.find(name)?.isWanted !== true;
    return isUnwanted && this.#wasReleasedUnseen();
  }

  #wasReleasedUnseen(): boolean {
    return this.#excuse({ 'server without a new id: held by a replica that has released it': this.#hiddenLossAt > 0 });
  }
}

function isOfPause({ kind }: Call): boolean {
  return kind !== 'trigger' && kind !== 'stepDown';
}

/** Two terms that were allowed to overlap. */
function ledBeside(one: Led, other: Led): boolean {
  return one.excusedBeside === other.term || other.excusedBeside === one.term;
}

function repliesOf({ process, term }: Led): Replies | undefined {
  return process.app.runners.get(jobOf(term.name) ?? '')?.replies;
}

/** A run of its job is in flight there. */
function isBusy({ process, term }: Led): boolean {
  const job = jobOf(term.name);
  return job !== undefined && process.app.isBusy(job);
}
