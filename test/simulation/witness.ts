import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { type JobEvents, type Notify } from '../../libs/singleton-job/src/events/index.js';
import { type Holder } from '../../libs/singleton-job/src/store/index.js';
import { safetyMarginMs } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type Run, type Window } from './rules.js';
import { type World } from './world.js';

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** A run begins in a process. */
export interface Beginning {
  readonly process: string;
  readonly run: JobRun;
  readonly clock: ProcessClock;
  readonly heldLock: boolean;
}

/** A process has read the answer that it holds a lock. */
export interface Confirmation {
  readonly process: string;
  readonly job: string;
  readonly holder: Holder;
  /** When the request was sent, by the process's own clock. */
  readonly sentMs: number;
  readonly lockExpiryMs: number;
  /** Of a granted bid. */
  readonly token?: number;
}

/** Sees every run of all processes in true time, and what is left of each lease by the clock of its process. */
export class Witness {
  readonly runs: Open<Run>[] = [];
  readonly windows: Window[] = [];
  readonly #world: World;
  readonly #tell: ((line: string) => void) | undefined;
  /** The safe deadline of each holder, by the clock of its process. */
  readonly #deadlines = new Map<string, number>();
  /** The holder of each term. */
  readonly #holders = new Map<string, string>();
  /** The token of the term in which a process leads a job, by what it says itself. */
  readonly #terms = new Map<string, number>();

  /** `tell` is told everything in a line each. */
  constructor(world: World, tell: ((line: string) => void) | undefined) {
    this.#world = world;
    this.#tell = tell;
  }

  /** From now on, and for so long, something may happen that the promises exclude. */
  allow({ forMs, ...window }: Omit<Window, 'fromMs' | 'untilMs'> & { readonly forMs: number }): void {
    this.windows.push({ ...window, fromMs: this.#world.nowMs, untilMs: this.#world.nowMs + forMs });
  }

  confirmed({ process, job, holder, sentMs, lockExpiryMs, token }: Confirmation): void {
    const own = `${process} ${job} ${holder}`;
    const deadlineMs = sentMs + lockExpiryMs - safetyMarginMs(lockExpiryMs);
    this.#deadlines.set(own, Math.max(deadlineMs, this.#deadlines.get(own) ?? -Infinity));
    if (token !== undefined) this.#holders.set(`${process} ${job} ${String(token)}`, own);
  }

  /** A run begins; returns what to call when its signal fires, and when it has settled. */
  began({ process, run, clock, heldLock }: Beginning): { aborted: () => void; ended: () => void } {
    const { job, fencingToken, scheduledAt } = run;
    const isInTerm = this.#terms.get(`${process} ${job}`) === fencingToken;
    const holder = this.#holders.get(`${process} ${job} ${String(fencingToken)}`) ?? '';
    const deadlineMs = isInTerm ? (this.#deadlines.get(holder) ?? -Infinity) : -Infinity;
    const open: Open<Run> = {
      job,
      process,
      scheduledAt: scheduledAt.getTime(),
      startedMs: this.#world.nowMs,
      leaseLeftMs: deadlineMs - clock.now(),
      heldLock,
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

  /** A process is gone, and with it everything that it was doing. */
  ended(process: string): void {
    for (const run of this.runs) if (run.process === process) run.endedMs ??= this.#world.nowMs;
  }

  note(line: string): void {
    this.#tell?.(`${this.#world.nowMs.toFixed(1).padStart(9)} ${line}`);
  }

  /** Listens to what a process says of itself, for as long as it lives. */
  listenTo(process: string, clock: ProcessClock): Notify {
    return (event, payload) => {
      if (clock.hasEnded) return;
      if (this.#tell !== undefined) this.note(`${process} ${event} ${JSON.stringify(payload)}`);
      if (event === 'leadershipGained') {
        const { job, fencingToken } = payload as JobEvents['leadershipGained'];
        this.#terms.set(`${process} ${job}`, fencingToken);
      }
      if (event === 'leadershipLost' || event === 'leadershipReleased')
        this.#terms.delete(`${process} ${(payload as JobEvents['leadershipLost']).job}`);
    };
  }
}
