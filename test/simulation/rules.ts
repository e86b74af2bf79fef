import { trustedMs } from '../../libs/singleton-job/src/leadership/lease.js';
import { type RunInfo } from '../../libs/singleton-job/src/base/events/run-info.js';
import { jobOf, type JobRecord, jobRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { type Term } from '../../libs/singleton-job/src/leadership/term.js';
import { type MemoryData } from '../../libs/singleton-job/src/store/memory.js';
import { type CasRequest } from '../../libs/singleton-job/src/store/store.js';
import { type ApplicationParts } from './application.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type CommandKind, type FaultOf } from './story.js';
import { type World } from './world.js';

/** The rules, by their codes. */
export const RULES = {
  S0: 'a run starts only under a valid term',
  S1: 'two replicas never lead one job, or hold one lock',
  S2: 'fencing tokens grow',
  S3: 'a cron occurrence starts once',
  S4: 'an interval keeps its delay across leaders',
  L1: 'in calm somebody leads within a life, a heartbeat and 1.5 s',
  L2: 'no term ends in calm',
  L3: 'a paused job is given back',
  L4: 'a replica can stop',
  L5: 'a lock can be taken in calm',
  L6: 'who leads in calm runs',
  K1: 'a leader that reaches the store in time goes on through a new incarnation, in the same term',
  K2: 'no old pause comes back with a snapshot',
  T1: 'a trigger runs once',
  T2: 'the caller of a trigger is told the truth',
  P1: 'what was resumed is not paused',
};
export type Rule = keyof typeof RULES;

/** What is known of a process. */
class Watched {
  /** When a record that it has seen was read, by name. */
  readonly seenAt = new Map<string, number>();
  /** When its last sync was carried out, and the last one before an incarnation that it has not settled in. */
  syncedAt = -Infinity;
  syncedBefore: number | undefined;
  metAt = -Infinity;
}

/** A term that has begun. */
interface Led {
  readonly term: Term;
  readonly process: SimulatedProcess;
  readonly watched: Watched;
  /** Undefined: a lock. */
  readonly job: string | undefined;
  readonly beganAt: number;
  /** When its last run started. */
  startedAt?: number;
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
  readonly excused = new Map<string, number>();
  readonly count = { terms: 0, runs: 0 };
  readonly #watched = new Map<SimulatedProcess, Watched>();
  /** By name of the record, the oldest first. */
  readonly #led = new Map<string, Led[]>();
  // calm
  #lastFault = 0;
  #hintsCalmAt = 0;
  readonly #faults: { readonly from: number; readonly to: number }[] = [];
  readonly #maxLifeMs: number;
  readonly #heartbeatMs: number;
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
  #wasSetBack = false;
  /** Lost in a restart that not all can notice. */
  #hiddenLossAt = -Infinity;
  /** `name` undefined: of all records, or many. */
  readonly #losses: { readonly at: number; readonly name?: string }[] = [];
  /** A server of before has come back. Only these notice, who have met another one in between. */
  #aware = new Set<SimulatedProcess>();
  readonly #recordLostAt = new Map<string, number>();
  readonly #lostClaims: { readonly name: string; readonly above: number; readonly upTo: number }[] = [];
  // what the replicas did
  readonly #maxToken = new Map<string, number>();
  readonly #tokenOf = new Map<string, number>();
  /** When a holder first wrote in this incarnation. */
  readonly #wroteAt = new Map<string, number>();
  readonly #starts = new Map<
    string,
    { readonly led: Led | undefined; readonly id: string; readonly aheadMs: number }
  >();
  readonly #lastStart = new Map<string, number>();
  readonly #lastEnd = new Map<string, number>();
  readonly #lastLed = new Map<string, number>();
  readonly #pausedSince = new Map<string, number>();
  #wasLocked = true;
  // what callers wanted
  readonly #calls: Call[] = [];
  readonly #triggered = new Map<string, number>();
  readonly #lostTriggers = new Set<string>();

  constructor(private readonly world: World) {
    const { lifeMs, jobs, places } = world.setting;
    const lives = [lifeMs, ...jobs.map((job) => job.lifeMs), ...places.flatMap((one) => Object.values(one.otherLives))];
    this.#maxLifeMs = Math.max(...lives);
    this.#heartbeatMs = Math.min(3_000, this.#maxLifeMs / 4);
    this.#boundMs = this.#maxLifeMs + this.#heartbeatMs + 1_500;
  }

  get #t(): number {
    return this.world.t;
  }

  #violate(rule: Rule, text: string): void {
    if (this.violation !== undefined) return;
    this.violation = { rule, text };
    this.world.say('**', rule, text);
  }

  begin(): void {
    const everyMs = this.#maxLifeMs < 2_000 ? 100 : 250;
    const sample = (): void => {
      this.#sample();
      this.world.after(everyMs, sample);
    };
    this.world.after(everyMs, sample);
  }

  faultUntil(to: number): void {
    this.#lastFault = Math.max(this.#lastFault, to);
    this.#faults.push({ from: this.#t, to });
  }

  hintDisturbed(): void {
    this.#hintsCalmAt = this.#t + 10_000 + this.#heartbeatMs;
  }

  // ---- Terms

  observerOf(process: SimulatedProcess): ApplicationParts['observer'] {
    const watched = new Watched();
    const { link } = process;
    this.#watched.set(process, watched);
    const ended = (info: RunInfo): void => {
      this.#runEnded(process, info);
    };
    return {
      synced: (_sync, _result, isNew) => {
        if (isNew) {
          watched.metAt = this.#t;
          watched.syncedBefore ??= watched.syncedAt;
          return;
        }
        watched.syncedAt = link.syncedAt;
        if (!process.replica.elections.some(({ term }) => term?.reclaim)) watched.syncedBefore = undefined;
      },
      // a leader does not go by what it reads while a write is under way: its answer is newer
      seen: ({ name, writer }) => writer.isOpen || watched.seenAt.set(name, link.readAt),
      gained: (term) => {
        this.#began({ term, process, watched, job: jobOf(term.name), beganAt: this.#t });
      },
      runStarted: (info) => {
        this.#runStarted(process, info);
      },
      runSucceeded: ended,
      runFailed: ended,
      runCancelled: ended,
    };
  }

  #began(led: Led): void {
    const { term, process } = led;
    this.count.terms += 1;
    this.world.say(process.id, 'LEADS', term.name, term.holder, 'token', term.fencingToken);
    this.#led.set(term.name, [...this.#terms(term.name), led]);
    term.signal.addEventListener('abort', () => {
      this.#ended(led);
    });
    this.#checkOverlap(term.name);
  }

  #terms(name: string): readonly Led[] {
    return this.#led.get(name) ?? [];
  }

  #ended(led: Led): void {
    const { term, process, watched, beganAt } = led;
    const { name, end, reclaim, orders, holder } = term;
    if (process.isOver) return;
    this.world.say(process.id, 'ENDS', name, holder, end);
    if (orders.open?.outcome === 'started') this.#lostTriggers.add(orders.open.id);
    // a process that ends may leave a run behind, whose lease is not given back
    if (end !== 'abandoned' || !isBusy(led)) this.#forget(name, (other) => other !== led);
    const election = process.replica.find(name);
    if (end === 'abandoned' || election === undefined) return;
    const value = election.record?.value;
    if (end === 'released') {
      const isWish = (call: Call): boolean => call.name === name && call.kind === 'pause' && call.at > beganAt - 3_000;
      const isMeant = !election.isWanted || process.isStopping || this.#calls.some(isWish);
      if (value?.pausedAt !== undefined && !isMeant && !this.#isHiddenFrom(process))
        this.#violate('K2', `${name}: released for an old pause`);
      return;
    }
    if (this.#calmMs(0) > this.#boundMs) this.#violate('L2', `${name}: a term ended (${String(end)}) in calm`);
    if (reclaim === undefined || this.#isHiddenFrom(process)) return;
    const isOfNow = value?.incarnation === process.replica.view.incarnation.id;
    const isOther = value?.holder !== undefined && value.holder !== holder && isOfNow;
    if (
      end === 'preempted' &&
      !isOther &&
      !election.record?.isUnreadable &&
      (value?.fencingToken ?? 0) <= term.fencingToken
    )
      this.#violate('K1', `${name}: the term was lost in a new incarnation, to nobody`);
    const { metAt } = watched;
    const isCalm = this.#faults.every(
      ({ from, to }) => to < metAt - 1 || from > this.#t || (from === to && to < metAt),
    );
    if (end === 'expired' && isCalm && metAt > beganAt && this.#t - metAt > 0.25 * term.lease.lifeMs)
      this.#violate('K1', `${name}: the term ended although its replica had reached the store`);
  }

  #forget(name: string, isLeft: (led: Led) => boolean): void {
    this.#led.set(name, this.#terms(name).filter(isLeft));
  }

  over(process: SimulatedProcess): void {
    this.world.say(process.id, 'is over');
    for (const [name, all] of this.#led) {
      for (const led of all) {
        const { term } = led;
        if (led.process !== process) continue;
        if (isBusy(led) && this.#isValid(led)) this.#lastEnd.set(name, this.#t);
        if (term.orders.open?.outcome === 'started') this.#lostTriggers.add(term.orders.open.id);
      }
      this.#forget(name, (led) => led.process !== process);
    }
    process.isOver = true;
  }

  /** As the process would find if it looked at its clocks now, and at what its heartbeat thread has reported. */
  #isValid(led: Led): boolean {
    const { process, term } = led;
    const isLeftBehind = term.end === 'abandoned' && isBusy(led);
    if (process.isOver || (term.end !== undefined && !isLeftBehind)) return false;
    let { now, wall } = term.deadline;
    const ms = trustedMs(term.lease.lifeMs);
    for (const { id, incarnation, sent } of process.thread?.reports ?? []) {
      const isOurs = id === term.lease.id && incarnation === process.replica.view.incarnation.id;
      if (isOurs && term.reclaim === undefined && sent.now + ms > now) [now, wall] = [sent.now + ms, sent.wall + ms];
    }
    return process.now() < now && process.wallNow() < wall;
  }

  #checkOverlap(name: string): void {
    const valid = this.#terms(name).filter((led) => this.#isValid(led));
    valid.slice(1).forEach((newer, index) => {
      const older = valid[index] as Led;
      if (older.process === newer.process) return;
      if (this.#goesOnBeside(name, older, newer) || this.#mayOverlap(name, older, newer))
        older.excusedBeside = newer.term;
      else this.#violate('S1', `${name}: ${older.term.holder} and ${newer.term.holder} lead`);
    });
  }

  // ---- Runs

  #ledBy(process: SimulatedProcess, { job, fencingToken }: RunInfo): Led | undefined {
    const isOf = (led: Led): boolean => led.process === process && led.term.fencingToken === fencingToken;
    return this.#terms(jobRecord(job)).find(isOf);
  }

  #runEnded(process: SimulatedProcess, info: RunInfo): void {
    const led = this.#ledBy(process, info);
    const isLed = led !== undefined && this.#isValid(led);
    const isStubborn = this.world.setting.jobs.find(({ name }) => name === info.job)?.isStubborn;
    const name = jobRecord(info.job);
    // exception: a run that outlived its lease, because its process stood still or it does not end. No replica can see its end
    const stoodStill = process.resumedAt >= last(this.#lastStart, name);
    if (isLed || (!stoodStill && !isStubborn)) this.#lastEnd.set(name, this.#t);
  }

  #runStarted(process: SimulatedProcess, info: RunInfo): void {
    const { id, aheadMs } = process;
    const { cause, kind } = info;
    const name = jobRecord(info.job);
    const led = this.#ledBy(process, info);
    this.count.runs += 1;
    this.#lastStart.set(name, this.#t);
    if (led === undefined || !this.#isValid(led)) this.#violate('S0', `${name}: ${id} started without a valid term`);
    if (cause === 'trigger') {
      const command = [...(led?.term.orders.ignored ?? [])].at(-1) ?? '';
      const times = (this.#triggered.get(command) ?? 0) + 1;
      this.#triggered.set(command, times);
      if (times > 1) this.#violate('T1', `${command} ran twice`);
    } else if (kind === 'cron') {
      const occurrence = info.scheduledAt.getTime();
      const key = `${name}@${occurrence}`;
      this.world.say(id, 'RUNS', key);
      const first = this.#starts.get(key);
      const isBeside = areBeside(first?.led, led) && this.#excuse('a cron occurrence, by two leaders');
      const wasEarlier = first !== undefined && first.aheadMs > aheadMs;
      if (first !== undefined && !isBeside && !this.#mayStartAgain(process, name, occurrence, wasEarlier))
        this.#violate('S3', `${key} started twice, by ${first.id} and ${id}`);
      this.#starts.set(key, { led, id, aheadMs });
    } else if (kind === 'interval') {
      const { periodMs = 0 } = this.world.setting.jobs.find((one) => one.name === info.job) ?? {};
      const gapMs = this.#t - last(this.#lastEnd, name);
      const isEarly = gapMs < periodMs * 0.985 - 40 - this.world.setting.delayMs[1];
      if (isEarly && !this.#mayRunEarly(name))
        this.#violate('S4', `${name}: ${gapMs.toFixed(0)} ms after the last run`);
    }
  }

  // ---- The store

  /** A request was carried out. */
  carriedOut(isLate: boolean): void {
    if (isLate) this.faultUntil(this.#t);
    const { noted } = this.world.server;
    if (noted?.id === this.#noted) return;
    if (this.#ids.size > 0 && noted?.isFirst === true && !this.#ids.has(noted.id)) this.#falseFirstAt = this.#t;
    this.#noted = noted?.id;
    this.#ids.add(noted?.id);
    this.#notedAt = this.#t;
    this.#wroteAt.clear();
    this.faultUntil(this.#t);
    this.world.say('INCARNATION', noted);
  }

  written({ writes }: CasRequest, revisions: readonly (number | undefined)[]): void {
    writes.forEach(({ name, value }, index) => {
      const { holder, fencingToken = 0 } = JSON.parse(value) as JobRecord;
      if (revisions[index] === undefined || holder === undefined) return;
      if (!this.#wroteAt.has(holder)) this.#wroteAt.set(holder, this.#t);
      const before = this.#tokenOf.get(holder);
      const max = last(this.#maxToken, name);
      if (before === fencingToken) return;
      if (before !== undefined) this.#violate('S2', `${name}: the token of ${holder} changed`);
      if (fencingToken <= max && !this.#mayRepeatToken(name))
        this.#violate('S2', `${name}: ${fencingToken} after ${max}`);
      this.#tokenOf.set(holder, fencingToken);
      this.#maxToken.set(name, Math.max(max, fencingToken));
    });
  }

  restarted({ data, clockMs }: FaultOf<'restart'>, before: MemoryData): void {
    const { server, processes } = this.world;
    const isLoss = data !== 'kept';
    const isUnseen = this.world.setting.isHidden || data === 'old';
    if (clockMs < 0) this.#wasSetBack = true;
    if (clockMs > 0) this.#aheadAt = this.#t;
    if (isUnseen && clockMs > 0) this.#jumpedAheadAt = this.#t;
    if (isUnseen && isLoss) {
      const met = server.noted?.id;
      this.#hiddenLossAt = this.#t;
      this.#aware = new Set(processes.filter(({ replica: { view } }) => !view.isEmpty && view.incarnation.id !== met));
    }
    if (isLoss) this.dataLost(before);
  }

  dataLost(before: MemoryData): void {
    this.#losses.push({ at: this.#t });
    for (const [name, { value }] of before.records) {
      const { lastScheduledAt: upTo = 0 } = JSON.parse(value) as JobRecord;
      const above = this.world.server.look(name)?.lastScheduledAt ?? 0;
      if (above < upTo) this.#lostClaims.push({ name, above, upTo });
    }
  }

  recordLost(name: string): void {
    this.faultUntil(this.#t + 13_000);
    this.#recordLostAt.set(name, this.#t);
    this.#losses.push({ at: this.#t, name });
    this.#lostClaims.push({ name, above: 0, upTo: Infinity });
  }

  clockJumped(ms: number): void {
    if (ms > 0) this.#aheadAt = this.#jumpedAheadAt = this.#t;
    else this.#wasSetBack = true;
  }

  // ---- Whether things go on, at samples

  #sample(): void {
    for (const name of this.#led.keys()) this.#checkOverlap(name);
    for (const { name: job, kind, periodMs, longRunMs } of this.world.setting.jobs) {
      const name = jobRecord(job);
      const led = this.#terms(name).find((one) => this.#isValid(one));
      const isPaused = this.world.server.look(name)?.pausedAt !== undefined;
      if (!isPaused) this.#pausedSince.delete(name);
      else if (!this.#pausedSince.has(name)) this.#pausedSince.set(name, this.#t);
      // a run of before is waited for where its lease goes on
      const isRunning = this.world.processes.some(({ isOver, app }) => !isOver && !app.isIdle(job));
      const mayBeFree = isPaused || isRunning || this.world.server.isUnreadable(name);
      if (led !== undefined || mayBeFree || !this.#isWanted(name) || this.#isHeldUnseen(name))
        this.#lastLed.set(name, this.#t);
      const leaderlessMs = this.#calmMs(last(this.#lastLed, name));
      if (leaderlessMs > this.#boundMs)
        this.#violate('L1', `${name}: no leader for ${leaderlessMs.toFixed(0)} ms of calm`);
      if (led === undefined) continue;
      const pausedMs = isPaused ? this.#calmMs(last(this.#pausedSince, name)) : 0;
      if (pausedMs > 11_000 + this.#heartbeatMs + longRunMs) this.#violate('L3', `${name} is led though paused`);
      const lastRun = Math.max(led.beganAt, last(this.#lastStart, name), last(this.#lastEnd, name));
      // a cron occurrence may be claimed already, by a clock that is ahead
      const isDue = kind !== 'cron' && !isBusy(led) && !isPaused && led.term.end === undefined;
      if (isDue && this.#calmMs(lastRun) > 2.2 * periodMs + 1_500) this.#violate('L6', `${name} does not run`);
    }
  }

  #calmMs(since: number): number {
    return this.#t - Math.max(since, this.#lastFault, this.#hintsCalmAt);
  }

  #isWanted(name: string): boolean {
    return this.world.processes.some(
      ({ isWell, link, replica }) => isWell && !link.isCut() && replica.find(name)?.isWanted === true,
    );
  }

  killedInStop({ id, app }: SimulatedProcess, since: number): void {
    const isBusy = this.world.setting.jobs.some(
      ({ name }) => app.isBusy(name) || this.#t - last(this.#lastEnd, jobRecord(name)) < 1_000,
    );
    if (this.#lastFault <= since + 1 && !isBusy) this.#violate('L4', `${id} could not stop`);
  }

  /** The last caller of a lock. */
  lastLock(): () => void {
    this.#wasLocked = false;
    return () => {
      this.#wasLocked = true;
    };
  }

  // ---- What callers wanted

  asked(id: string, kind: CommandKind, name: string): Call {
    const isDisputed = this.#calls.some((call) => call.name === name && call.outcome === undefined);
    const call: Call = { id, kind, name, at: this.#t, isDisputed, outcome: undefined };
    this.#calls.push(call);
    return call;
  }

  /** The story is over. */
  end(): void {
    for (const { id, kind, at, outcome } of this.#calls) {
      if (kind !== 'trigger' || outcome === undefined) continue;
      const times = this.#triggered.get(id) ?? 0;
      if (outcome === 'started' && times === 0 && this.#mayBeLost(id, at)) continue;
      const isTrue = outcome === 'started' ? times === 1 : outcome === 'no-answer' || times === 0;
      if (!isTrue) this.#violate('T2', `${id}: ${outcome}, but ran ${times} times`);
    }
    for (const { name: job } of this.world.setting.jobs) {
      const name = jobRecord(job);
      const call = this.#calls.findLast((one) => one.name === name && (one.kind === 'pause' || one.kind === 'resume'));
      if (call?.outcome !== 'resumed' || call.isDisputed || this.#losses.some((loss) => loss.at > call.at)) continue;
      if (this.world.server.look(name)?.pausedAt !== undefined) this.#violate('P1', `${name} is paused after a resume`);
    }
    if (!this.#wasLocked && !this.#wasReleasedUnseen()) this.#violate('L5', 'the lock cannot be taken in calm');
  }

  // ---- Exceptions: what the design does not promise

  #excuse(why: string): true {
    this.excused.set(why, (this.excused.get(why) ?? 0) + 1);
    return true;
  }

  #isHiddenFrom(process: SimulatedProcess): boolean {
    return this.#hiddenLossAt > 0 && !this.#aware.has(process);
  }

  /** An overlap that was allowed goes on until a new incarnation is settled, and until both have seen the record. */
  #goesOnBeside(name: string, older: Led, newer: Led): boolean {
    const hasSeen = ({ watched }: Led, { term }: Led): boolean =>
      last(watched.seenAt, name) > (this.#wroteAt.get(term.holder) ?? Infinity);
    const isReclaiming = older.term.reclaim !== undefined || newer.term.reclaim !== undefined;
    const isUnknown = !hasSeen(older, newer) || !hasSeen(newer, older);
    return older.excusedBeside === newer.term && (isReclaiming || isUnknown);
  }

  #mayOverlap(name: string, { process, term, beganAt, watched }: Led, newer: Led): boolean {
    const { syncedAt, syncedBefore = syncedAt, seenAt } = watched;
    const isReclaiming = term.reclaim !== undefined;
    const isAfterLoss = newer.process.bornAt > (this.#losses.at(-1)?.at ?? Infinity);
    if (isAfterLoss && newer.term.lease.lifeMs < term.lease.lifeMs && (isReclaiming || syncedAt < this.#notedAt))
      return this.#excuse('after a loss, a new process with a shorter life');
    if (syncedAt < process.suspendedAt && process.wallSteppedAt >= process.suspendedAt)
      return this.#excuse('suspended, and its wall clock was set meanwhile');
    if ((isReclaiming ? syncedBefore : syncedAt) < this.#jumpedAheadAt)
      return this.#excuse('clock of the store set ahead, until the next sync');
    if (last(seenAt, name) < last(this.#recordLostAt, name)) return this.#excuse('record deleted, until it is read');
    if ((isReclaiming ? syncedBefore : syncedAt) < this.#falseFirstAt)
      return this.#excuse('after a loss of all data, a new process before any old one');
    const isUnseen = this.#isHiddenFrom(process) || this.#isHiddenFrom(newer.process);
    const isLeft = beganAt < this.#hiddenLossAt && this.#t < this.#hiddenLossAt + term.lease.lifeMs;
    return isUnseen && isLeft && this.#excuse('hidden restart, until the next connection');
  }

  #mayStartAgain(process: SimulatedProcess, name: string, occurrence: number, wasEarlier: boolean): boolean {
    const isLost = this.#lostClaims.some(
      ({ name: of, above, upTo }) => of === name && occurrence > above && occurrence <= upTo,
    );
    if (isLost && this.#isHiddenFrom(process)) return this.#excuse('claim lost in a hidden restart');
    return isLost && wasEarlier && this.#excuse('claim lost, of a leader whose clock was ahead');
  }

  /** Tokens follow the clock of the store. */
  #mayRepeatToken(name: string): boolean {
    if (this.#hiddenLossAt > 0) return this.#excuse('token, after a hidden restart');
    const isLost = this.#losses.some((loss) => (loss.name ?? name) === name);
    return isLost && this.#wasSetBack && this.#excuse('token, after a loss and with the clock set back');
  }

  #mayRunEarly(name: string): boolean {
    const since = last(this.#lastEnd, name) - 10_000;
    if (this.#losses.some((loss) => loss.name === undefined && loss.at > since))
      return this.#excuse('interval, after a loss');
    if (last(this.#recordLostAt, name) > since - this.#maxLifeMs)
      return this.#excuse('interval, after its record was deleted');
    return this.#aheadAt > since && this.#excuse('interval, after the clock was set ahead');
  }

  #mayBeLost(trigger: string, at: number): boolean {
    if (this.#hiddenLossAt > at) return this.#excuse('a trigger that was lost in a hidden restart');
    return this.#lostTriggers.has(trigger) && this.#excuse('a claimed trigger whose term ended first');
  }

  /** A hidden restart has brought back a holder that lives and does not want the record any more. */
  #isHeldUnseen(name: string): boolean {
    const holder = this.world.server.look(name)?.holder;
    const owner = this.world.processes.find(({ id }) => holder?.startsWith(`${id}.`) === true);
    const isUnwanted = owner !== undefined && !owner.isOver && owner.replica.find(name)?.isWanted !== true;
    return isUnwanted && this.#wasReleasedUnseen();
  }

  #wasReleasedUnseen(): boolean {
    return this.#hiddenLossAt > 0 && this.#excuse('hidden restart: held by a replica that has released it');
  }
}

/** A run of its job is in flight there. */
function isBusy({ process, job }: Led): boolean {
  return job !== undefined && process.app.isBusy(job);
}

/** They were allowed to overlap. */
function areBeside(one: Led | undefined, other: Led | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.excusedBeside === other.term || other.excusedBeside === one.term;
}

function last(times: ReadonlyMap<string, number>, name: string): number {
  return times.get(name) ?? -Infinity;
}
