import { type JobEvents, type Notify } from '../../libs/singleton-job/src/events/index.js';
import { ownerOf } from '../../libs/singleton-job/src/lock/index.js';
import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import {
  type Open,
  type WitnessedConfirmation,
  type WitnessedDrop,
  type WitnessedFault,
  type WitnessedProcess,
  type WitnessedRefusal,
  type WitnessedReport,
  type WitnessedRun,
  type WitnessedSight,
  type WitnessedStep,
  type WitnessedTerm,
} from '../support/checker.js';
import { type Command } from './plan.js';
import { EPOCH_MS, type ProcessClock } from './process-clock.js';
import { type ServerWatch } from './server-watch.js';
import { type About, type Follower } from './simulated-network.js';
import { type World } from './world.js';

interface OpenProcess extends Open<WitnessedProcess> {
  readonly clock: ProcessClock;
  /** The schedule of its cron job. */
  readonly cron: CronSchedule;
  readonly metMs: Map<string, number>;
}

/** A run begins in a process. */
export interface Beginning {
  readonly process: string;
  readonly run: JobRun;
  readonly clock: ProcessClock;
  readonly isStubborn: boolean;
  readonly heldLock: boolean;
}

/** Sees every run, every report and every leader of all processes in true time. */
export class Witness {
  readonly runs: Open<WitnessedRun>[] = [];
  readonly reports: WitnessedReport[] = [];
  readonly drops: WitnessedDrop[] = [];
  readonly terms: Open<WitnessedTerm>[] = [];
  readonly confirmations: WitnessedConfirmation[] = [];
  readonly sights: WitnessedSight[] = [];
  readonly refusals: WitnessedRefusal[] = [];
  readonly processes: OpenProcess[] = [];
  readonly faults: WitnessedFault[] = [];
  readonly #world: World;
  readonly #tokens = new Map<string, number>();
  readonly #seen = new Map<string, number>();
  readonly #tell: ((line: string) => void) | undefined;

  /** `tell` is told everything in a line each. */
  constructor(
    world: World,
    readonly server: ServerWatch,
    tell: ((line: string) => void) | undefined,
  ) {
    this.#world = world;
    this.#tell = tell;
  }

  /** A process begins its life. */
  started(process: string, { clock, cron }: Pick<OpenProcess, 'clock' | 'cron'>): void {
    this.processes.push({ process, clock, cron, startedMs: this.#world.nowMs, metMs: new Map() });
    this.note(`${process} starts`);
  }

  /** Something goes wrong from now on: in one process, or in the store and the network of all. */
  fault(kind: string, forMs: number, where: Pick<WitnessedFault, 'process' | 'job' | 'sinceMs' | 'byMs'> = {}): void {
    const fromMs = this.#world.nowMs;
    this.faults.push({ kind, fromMs, untilMs: fromMs + forMs, ...where });
  }

  stopAsked(process: string): void {
    const open = this.#alive(process);
    if (open !== undefined) open.stopAskedMs = this.#world.nowMs;
    this.note(`${process} is asked to stop`);
  }

  /** The program has said that its stop is over. */
  stopped(process: string): void {
    const open = this.#alive(process);
    if (open !== undefined) open.heldAtEnd = this.#heldBy(process);
  }

  /** Follows a command about a lock to the server and back. */
  follow<T>(process: string, command: Command, about: About<T>): Follower<T> {
    const { name: job, holder, lockExpiryMs = 0 } = about;
    const sentMs = this.#world.nowMs;
    let before: string | undefined;
    let step: Open<WitnessedStep> | undefined;
    return {
      arrives: () => {
        before = this.server.holderOf(job);
      },
      wasCarriedOut: () => {
        step = this.server.carriedOut({ command, job, holder, lockExpiryMs, process, sentMs }, before);
      },
      isAnswered: (answer) => {
        const token = about.token?.(answer);
        if (token !== undefined) this.server.granted(job, holder, token);
        const claimed = about.claimed?.(answer);
        if (claimed !== undefined) Object.assign(step ?? {}, { claimed });
      },
      isRead: (answer) => {
        const answeredMs = this.#world.nowMs;
        const { metMs } = this.#alive(process) ?? {};
        if ((about.born?.(answer) ?? 0) > 0 && metMs?.has(job) === false) metMs.set(job, answeredMs);
        this.#saw({ job, process, last: about.last?.(answer) ?? 0, atMs: answeredMs });
        const by = about.refusedBy?.(answer);
        if (by !== undefined && ownerOf(by) !== process)
          this.refusals.push({ job, process, holder, by, atMs: answeredMs });
        const token = about.token?.(answer);
        // a bid that arrives again after a loss of data is granted anew: a term keeps the token that it began with
        const leads = this.#openTerms(process).some((term) => term.job === job);
        if (token !== undefined && !leads) this.#tokens.set(`${job} ${holder}`, token);
        const fencingToken = this.#tokens.get(`${job} ${holder}`);
        if (about.confirms?.(answer) !== true || fencingToken === undefined) return;
        this.confirmations.push({ job, process, fencingToken, sentMs, answeredMs });
      },
    };
  }

  /** A run begins; returns what to call when its signal fires, and when it has settled. */
  began({ process, run, clock, isStubborn, heldLock }: Beginning): { aborted: () => void; ended: () => void } {
    const { job, fencingToken, scheduledAt } = run;
    const open: Open<WitnessedRun> = {
      job,
      process,
      fencingToken,
      scheduledAt: scheduledAt.getTime(),
      clockAheadMs: clock.wallNow() - this.#world.nowMs - EPOCH_MS,
      latenessMs: clock.wallNow() - scheduledAt.getTime(),
      startedMs: this.#world.nowMs,
      heldLock,
      ...(isStubborn && { ignoresSignal: true }),
    };
    if (!clock.hasEnded) this.runs.push(open);
    return {
      aborted: () => {
        open.abortedMs ??= this.#world.nowMs;
      },
      ended: () => {
        open.endedMs ??= this.#world.nowMs;
      },
    };
  }

  /** A process stands still from now on. */
  halted(process: string): void {
    for (const open of this.#inFlight(process)) {
      open.stoodStill = true;
      delete open.wentOnMs;
    }
  }

  /** One that stood still, and did not sleep, goes on as it was before. */
  wentOn(process: string): void {
    for (const open of this.#inFlight(process)) if (open.stoodStill === true) open.wentOnMs = this.#world.nowMs;
  }

  /** A process is gone, and with it everything that it was doing. */
  ended(process: string, end: 'stopped' | 'killed'): void {
    const endedMs = this.#world.nowMs;
    const open = this.#alive(process);
    if (open !== undefined) {
      Object.assign(open, { endedMs, end, timersAtEnd: open.clock.pendingTimers });
    }
    for (const open of this.#inFlight(process)) open.endedMs = endedMs;
    for (const term of this.#openTerms(process)) Object.assign(term, { endedMs, end: 'process-ended' });
    this.note(`${process} is ${end}`);
  }

  note(line: string): void {
    this.#tell?.(`${this.#world.nowMs.toFixed(1).padStart(9)} ${line}`);
  }

  /** Listens to what a process says of itself, for as long as it lives. */
  listenTo(process: string, clock: ProcessClock): Notify {
    return (event, payload) => {
      if (clock.hasEnded) return;
      if (this.#tell !== undefined) this.note(`${process} ${event} ${JSON.stringify(payload)}`);
      this.#ears[event]?.(process, payload);
    };
  }

  readonly #ears: { readonly [E in keyof JobEvents]?: (process: string, payload: JobEvents[E]) => void } = {
    leadershipGained: (process, { job, fencingToken }) => {
      this.terms.push({ job, process, fencingToken, gainedMs: this.#world.nowMs });
    },
    leadershipLost: (process, { job, reason }) => {
      this.#endTerm(process, job, reason);
    },
    leadershipReleased: (process, { job, confirmed }) => {
      this.#endTerm(process, job, confirmed ? 'released' : 'abandoned');
    },
    occurrencesMissed: (process, { job, from, to, reason }) => {
      const atMs = this.#world.nowMs;
      this.reports.push({ job, process, from: from.getTime(), to: to.getTime(), reason, atMs });
    },
    tickDropped: (process, { job, kind, scheduledAt, count, reason }) => {
      const to = scheduledAt.getTime();
      if (kind !== 'cron') {
        this.drops.push({ job, process, scheduledAt: to, count, atMs: this.#world.nowMs });
        return;
      }
      const cron = this.#alive(process)?.cron;
      let from = to;
      for (let dropped = 0; dropped < count; dropped++) from = cron?.latest(0, from - 1) ?? 0;
      this.reports.push({ job, process, from, to, reason, atMs: this.#world.nowMs });
    },
  };

  /** A process knows of an occurrence from now on, and of all before. */
  #saw(sight: WitnessedSight): void {
    const key = `${sight.process} ${sight.job}`;
    if (sight.last <= (this.#seen.get(key) ?? 0)) return;
    this.#seen.set(key, sight.last);
    this.sights.push(sight);
  }

  #endTerm(process: string, job: string, end: WitnessedTerm['end']): void {
    const endedMs = this.#world.nowMs;
    for (const term of this.#openTerms(process)) if (term.job === job) Object.assign(term, { endedMs, end });
  }

  #openTerms(process: string): Open<WitnessedTerm>[] {
    return this.terms.filter((term) => term.process === process && term.endedMs === undefined);
  }

  #alive(process: string): OpenProcess | undefined {
    return this.processes.findLast((other) => other.process === process && other.endedMs === undefined);
  }

  /** The jobs whose lock a process has although nothing of them runs in it. */
  #heldBy(process: string): string[] {
    const busy = new Set(this.#inFlight(process).map(({ job }) => job));
    return this.server.holdings
      .filter((held) => held.process === process && held.untilMs > this.#world.nowMs && !busy.has(held.job))
      .map(({ job }) => job);
  }

  #inFlight(process: string): Open<WitnessedRun>[] {
    return this.runs.filter((run) => run.process === process && run.endedMs === undefined);
  }
}
