import { type JobRun } from '../../libs/singleton-job/src/jobs/job-run.js';
import { type JobEvents, type Notify } from '../../libs/singleton-job/src/base/events/events.js';
import { deadlineOf } from '../../libs/singleton-job/src/leadership/lease.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type HeartbeatRequest,
  type Holder,
  lockExpiryOf,
  type ReleaseRequest,
  type ReleaseResult,
  replicaOf,
  sessionOf,
} from '../../libs/singleton-job/src/store/lock-store.js';
import { type TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { type Candidate } from './calm-checks.js';
import { type CallEnd, CallWatch } from './call-watch.js';
import { HandOverWatch } from './hand-over-watch.js';
import { type JobName, JOBS, type Kind, longestExpiryMs, type Request, type Setting } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type DoubleLead, type Leadership, type LockGrant, type Run, type Vacancy, type Window } from './history.js';
import { KnownDeadlines } from './known-deadlines.js';
import { OccurrenceWatch } from './occurrence-watch.js';
import { type Reading } from './simulated-network.js';
import { type Timeline } from './timeline.js';

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** A process as the recorder sees it. */
export interface Watched extends Candidate {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly startedMs: number;
  /** Whether it would start a run of a job now, or when it wakes up. */
  leads(job: string): boolean;
  kindOf(job: string): Kind | undefined;
}

export interface RecorderParts {
  readonly timeline: Timeline;
  readonly setting: Setting;
  readonly server: TestServer;
  /** Only ends of processes and of leaderships: then a successor must lead as soon as the session of a dead process has ended. */
  readonly onlyEnds: boolean;
  /** Whether no fault could have delayed what began then. */
  readonly isOrderly: (job: JobName, sinceMs: number) => boolean;
  /** Called when a process has given a job to one that leads fewer. */
  readonly onMove: () => void;
  /** Called with a line for everything that happens. */
  readonly print: ((line: string) => void) | undefined;
}

/** From the end of a session to the next leader. */
const SUCCESSION_MS = 50;
/** The additional time for each replica that counts as alive, because a survivor also waits for dead replicas. */
const SPREAD_MS = 15;
/** How far the clocks of this simulation may drift apart during a lease. */
const DRIFT = 0.005;
/** A process that has just started may not know of the others. */
const NEWCOMER_MS = 500;

/** Records every run of all processes in true time, the rest of its lease by the clocks of its process, and the lock in the store. */
export class Recorder {
  readonly runs: Open<Run>[] = [];
  readonly windows: Open<Window>[] = [];
  readonly doubleLeads: DoubleLead[] = [];
  readonly vacancies: Vacancy[] = [];
  readonly grants: LockGrant[] = [];
  readonly leaderships: Leadership[] = [];
  readonly occurrences: OccurrenceWatch;
  readonly handOvers: HandOverWatch;
  readonly #calls: CallWatch;
  readonly #parts: RecorderParts;
  readonly #processes = new Map<string, Watched>();
  readonly #deadlines = new KnownDeadlines();
  /** The holder of each term. */
  readonly #holders = new Map<string, Holder>();
  /** The token of the term in which a process leads a job, by its own events. */
  readonly #terms = new Map<string, number>();
  /** When the server carried out the last heartbeat of a session. */
  readonly #heartbeats = new Map<string, number>();
  /** Processes that have read the answer to a heartbeat. */
  readonly #acquainted = new Set<string>();
  /** When processes have ended: Infinity for those that live. */
  readonly #ends = new Map<string, number>();
  /** Until when they may lead beside a leader that they cannot know of. */
  readonly #newcomers = new Map<string, number>();
  /** When data was lost. */
  readonly #losses: number[] = [];

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.occurrences = new OccurrenceWatch(parts.setting.version.cronSeconds * 1_000);
    const { timeline, server, isOrderly } = parts;
    const missed = (vacancy: Vacancy): void => {
      this.vacancies.push(vacancy);
    };
    this.#calls = new CallWatch(timeline, missed);
    this.handOvers = new HandOverWatch({
      timeline,
      missed,
      living: () => this.living,
      holderOf: (job) => processOf(server.holderOf(job)),
      isOrderly: (job, sinceMs) => isOrderly(job as JobName, sinceMs),
      boundMs: () => this.#successionMs(timeline.nowMs),
    });
  }

  /** From now on, for so long, a fault that the promises exclude may break a rule. */
  allow({ forMs, ...window }: Omit<Window, 'fromMs' | 'untilMs'> & { readonly forMs: number }): void {
    const { nowMs } = this.#parts.timeline;
    this.windows.push({ ...window, fromMs: nowMs, untilMs: nowMs + forMs });
  }

  /** The process of a leader has crashed. */
  crashed(job: string): void {
    this.#calls.crashed(job);
  }

  /** The store has lost data. A process that starts now knows nothing of what was lost. */
  dataLost(): void {
    const { nowMs } = this.#parts.timeline;
    this.#losses.push(nowMs);
    // a second loss may hit what a new process had gained wrongly after the first
    for (const [process, untilMs] of this.#newcomers) if (untilMs > nowMs) this.#allowNewcomer(process, nowMs);
  }

  watch(process: Watched): void {
    this.#processes.set(process.name, process);
    this.#ends.set(process.name, Infinity);
  }

  /** The answers that a process reads. */
  reading(process: string): Reading {
    return {
      heartbeat: (request, result, sent) => {
        this.#meet(process);
        for (const [index, { id, lockExpiryMs }] of request.sessions.entries()) {
          if (result.sessions[index]?.status !== 'ended')
            this.#deadlines.confirm(process, id, deadlineOf(sent, lockExpiryMs));
        }
      },
      lock: ({ name, holder, lifeMs }, sent, token) => {
        this.#deadlines.confirm(process, `${name} ${holder}`, deadlineOf(sent, lifeMs));
        if (token !== undefined) this.#holders.set(`${process} ${name} ${String(token)}`, holder);
      },
    };
  }

  /** The server has carried out a request, maybe of a process that is gone. */
  carriedOut(clock: ProcessClock, request: Request, body: object, answer: unknown): void {
    const { timeline } = this.#parts;
    if (request === 'heartbeat') {
      for (const { id } of (body as HeartbeatRequest).sessions) this.#heartbeats.set(id, timeline.nowMs);
    }
    if (request === 'release' && (answer as ReleaseResult).released) {
      const { name, holder } = body as ReleaseRequest;
      for (const run of this.runs) {
        if (run.job === name && run.process === replicaOf(holder) && run.endedMs !== undefined)
          run.endRecordedMs ??= timeline.nowMs;
      }
      const process = replicaOf(holder);
      if (isJob(name) && process !== undefined) this.handOvers.expect(name, process, `${process} has released it`);
    }
    if (request === 'acquire')
      this.occurrences.answered(body as AcquireRequest, answer as AcquireResult, timeline.nowMs);
    if (request === 'acquire' && clock.hasEnded && (answer as AcquireResult).granted)
      this.#expectSuccessor((body as AcquireRequest).name, (body as AcquireRequest).holder);
  }

  /** A run begins; returns what to call when its signal fires, and when it has settled. */
  began(
    process: Watched,
    run: JobRun,
    { kind, settleMs }: Pick<Run, 'kind' | 'settleMs'>,
  ): { aborted: () => void; ended: (how: CallEnd) => void } {
    const { job, fencingToken, scheduledAt } = run;
    const { name, clock } = process;
    const isInTerm = this.#terms.get(`${name} ${job}`) === fencingToken;
    const holder = this.#holders.get(`${name} ${job} ${String(fencingToken)}`) ?? '';
    const open: Open<Run> = {
      job,
      kind,
      process: name,
      scheduledAt: scheduledAt.getTime(),
      startedMs: this.#parts.timeline.nowMs,
      settleMs,
      leaseLeftMs: isInTerm ? this.#deadlines.leaseLeftMs(process, job, holder) : -Infinity,
      heldLock: this.#holdsLock(job, holder),
    };
    if (!clock.hasEnded) this.runs.push(open);
    if (kind === 'while-leader') this.#calls.began(process, job);
    this.#seeOthers(name, job);
    return {
      aborted: () => {
        open.abortedMs ??= this.#parts.timeline.nowMs;
      },
      ended: (how) => {
        open.endedMs ??= this.#parts.timeline.nowMs;
        if (kind === 'while-leader' && this.#calls.ended(process, job, how))
          this.handOvers.expect(job, name, `its method has thrown three times in a row on ${name}`);
      },
    };
  }

  /** The signal of a run of this process must fire now. */
  signalDue(process: string, job: string): void {
    const run = this.runs.findLast((one) => one.process === process && one.job === job);
    if (run !== undefined && run.endedMs === undefined) run.signalDueMs ??= this.#parts.timeline.nowMs;
  }

  /** A process is gone, and so are its runs. */
  ended(process: string): void {
    for (const run of this.runs) if (run.process === process) run.endedMs ??= this.#parts.timeline.nowMs;
    this.#processes.delete(process);
    this.#ends.set(process, this.#parts.timeline.nowMs);
    for (const job of JOBS) {
      const holder = this.#parts.server.holderOf(job);
      if (holder !== undefined && replicaOf(holder) === process) this.#expectSuccessor(job, holder);
    }
  }

  /** A job has no leader, or no run, although it has been calm for long enough. */
  missed(rule: Vacancy['rule'], job: string, calmFromMs: number): void {
    const since = `it has been calm since ${calmFromMs.toFixed(1)}`;
    this.vacancies.push({ rule, job, since, dueMs: this.#parts.timeline.nowMs });
  }

  isLed(job: string): boolean {
    return [...this.#processes.values()].some((process) => process.isLeading(job));
  }

  /** The processes that have not ended. */
  get living(): Iterable<Watched> {
    return this.#processes.values();
  }

  note(line: string): void {
    this.#parts.print?.(`${this.#parts.timeline.nowMs.toFixed(1).padStart(9)} ${line}`);
  }

  get isPrinting(): boolean {
    return this.#parts.print !== undefined;
  }

  /** Observes the events of a process while it lives. */
  listenTo(process: string, clock: ProcessClock): Notify {
    return (event, payload) => {
      if (clock.hasEnded) return;
      if (this.isPrinting) this.note(`${process} ${event} ${JSON.stringify(payload)}`);
      this.occurrences.heard(event, payload, this.#parts.timeline.nowMs);
      if (event === 'leadershipGained') {
        const { job, fencingToken } = payload as JobEvents['leadershipGained'];
        this.#terms.set(`${process} ${job}`, fencingToken);
        this.#noteLeadership(process, job, 'gained');
        this.#seeOthers(process, job);
        const leader = this.#processes.get(process);
        if (leader?.kindOf(job) === 'while-leader') this.#calls.led(leader, job);
      }
      if (event === 'leadershipLost') this.signalDue(process, (payload as JobEvents['leadershipLost']).job);
      if (event === 'leadershipReleased') {
        const { job, reason } = payload as JobEvents['leadershipReleased'];
        if (reason === 'stepped-down' || reason === 'failed-calls') this.handOvers.steppedDown(process, job);
        if (reason === 'rebalance') {
          this.#noteLeadership(process, job, 'moved');
          this.#parts.onMove();
        }
      }
      if (event === 'leaseRenewed') {
        const { job } = payload as JobEvents['leaseRenewed'];
        if (this.#processes.get(process)?.leads(job) === true) this.#seeOthers(process, job);
      }
      if (event === 'leadershipLost' || event === 'leadershipReleased')
        this.#terms.delete(`${process} ${(payload as JobEvents['leadershipLost']).job}`);
    };
  }

  #noteLeadership(process: string, job: string, what: Leadership['what']): void {
    const startedMs = this.#processes.get(process)?.startedMs ?? 0;
    this.leaderships.push({ job, process, what, atMs: this.#parts.timeline.nowMs, startedMs });
  }

  /** `process` leads a job at this moment. No other process may. */
  #seeOthers(process: string, job: string): void {
    for (const other of this.#processes.values()) {
      if (other.name === process || !other.leads(job)) continue;
      this.doubleLeads.push({ job, processes: [other.name, process], atMs: this.#parts.timeline.nowMs });
    }
  }

  #holdsLock(job: string, holder: Holder): boolean {
    const { server } = this.#parts;
    const session = sessionOf(holder);
    // a session that is not listed has not ended
    return server.holderOf(job) === holder && session !== undefined && server.sessionOf(session)?.hasEnded !== true;
  }

  /** How long after the end of a lease another replica leads, at most. */
  #successionMs(sinceMs: number): number {
    return Math.max(SUCCESSION_MS, SPREAD_MS * this.#countedAsAlive(sinceMs));
  }

  /** How many processes may count as alive: also dead ones with a session that has not ended. */
  #countedAsAlive(nowMs: number): number {
    const sinceMs = nowMs - longestExpiryMs(this.#parts.setting);
    return [...this.#ends.values()].filter((endedMs) => endedMs >= sinceMs).length;
  }

  /** The first answer that a process reads. It cannot know what was lost before. */
  #meet(process: string): void {
    if (this.#acquainted.has(process)) return;
    this.#acquainted.add(process);
    for (const lossMs of this.#losses) this.#allowNewcomer(process, lossMs);
  }

  #allowNewcomer(process: string, lossMs: number): void {
    const { timeline, setting } = this.#parts;
    const untilMs = lossMs + longestExpiryMs(setting) * (1 + DRIFT);
    if (untilMs <= timeline.nowMs) return;
    this.#newcomers.set(process, untilMs);
    this.allow({ rules: ['two-leaders', 'two-runs'], process, forMs: untilMs - timeline.nowMs });
  }

  /** The process of `holder` is dead: another replica must lead when its session has ended. */
  #expectSuccessor(job: string, holder: Holder): void {
    const { onlyEnds, timeline, server, setting } = this.#parts;
    const session = sessionOf(holder);
    const heartbeatMs = this.#heartbeats.get(session ?? '');
    if (!onlyEnds || session === undefined || heartbeatMs === undefined) return;
    const expiryMs = (lockExpiryOf(session) / setting.serverRate) * (1 + DRIFT);
    const dueMs = heartbeatMs + expiryMs + this.#successionMs(heartbeatMs);
    if (timeline.nowMs < dueMs) {
      // a heartbeat may be under way, and more processes may die
      timeline.at(dueMs, () => {
        this.#expectSuccessor(job, holder);
      });
      return;
    }
    const hasSurvivor = [...this.living].some(
      (one) => one.couldLeadSince(job, dueMs - NEWCOMER_MS) && !this.handOvers.standsBack(one.name, job),
    );
    if (!hasSurvivor || server.holderOf(job) !== holder) return;
    this.vacancies.push({
      rule: 'no-leader',
      job,
      since: `${holder} is dead, its last heartbeat was at ${heartbeatMs.toFixed(1)}`,
      dueMs,
    });
  }
}

function processOf(holder: Holder | undefined): string | undefined {
  return holder === undefined ? undefined : replicaOf(holder);
}

function isJob(name: string): name is JobName {
  return (JOBS as readonly string[]).includes(name);
}
