import { JobRun, type MissedOccurrences, type RunControl } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { messageOf } from '../base/errors/message-of.js';
import { type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { type Notify } from '../base/events/events.js';
import { type RunEnded, type RunInfo } from '../base/events/run-info.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type Term } from '../leadership/term.js';
import { type Clock, type Timer } from '../base/time/clock.js';
import { intercept } from './intercept.js';
import { replicaOf, leaseOf, type RunRecord } from '../leadership/record.js';

/** A record keeps so much of the message of an error. */
const MOST_OF_ERROR = 200;

/** The record of a run that begins now. */
export function recordOf(term: Term, more: Pick<RunRecord, 'crashes' | 'occurrence'> = {}): RunRecord {
  const occurrence = more.occurrence ?? term.own.run?.occurrence;
  return {
    startedAt: term.storeNow(),
    by: replicaOf(leaseOf(term.holder)),
    ...(occurrence !== undefined && { occurrence }),
    ...(more.crashes !== undefined && { crashes: more.crashes }),
  };
}

type RunOutcome = Exclude<RunRecord['outcome'], undefined>;

/** The cause of a run, and the instant for which it is started. */
export interface Tick extends Pick<RunInfo, 'cause' | 'scheduledAt'> {
  /** What a cron run makes up for. @default nothing */
  readonly missed?: MissedOccurrences | null;
  /** How many runs before this one ended with a crash of their process. @default none */
  readonly crashes?: number | undefined;
}

/** What a run needs beside its term. */
export interface RunnerParts {
  readonly job: Job;
  /** Wrap each run, the first one outermost. */
  readonly interceptors: readonly RunInterceptor[];
  readonly clock: Clock;
  readonly notify: Notify;
}

/** One run, from its start until the method has ended, also if it ignores its signal. */
export class RunHandle implements RunControl {
  readonly info: RunInfo;
  readonly missed: MissedOccurrences | null;
  /** How its method ended. Undefined: it has not. */
  outcome: RunOutcome | undefined;
  #record: RunRecord;
  /** Whether the store has its start: then it gets its end at once. */
  #isWritten: boolean;
  readonly #startedMs: number;
  #aborting: AbortController | undefined;
  #abortCode: RunAbortCode | undefined;
  #abortedMs = Infinity;
  /** Whether the method was called. False: the lease ended before that, so no run of the job has to end. */
  wasCalled = false;
  /** Undefined once the run has ended or was aborted. */
  #timers: Timer[] | undefined = [];

  constructor(
    private readonly parts: RunnerParts,
    { scheduledAt, cause, missed = null, crashes }: Tick,
    readonly term: Term,
    written?: RunRecord,
  ) {
    const { job, clock, notify } = parts;
    const { name, schedule, timeoutMs } = job;
    const { fencingToken } = term;
    this.missed = missed;
    const startedAt = new Date(clock.wallNow());
    this.info = Object.freeze({ job: name, kind: schedule.kind, cause, scheduledAt, startedAt, fencingToken });
    this.#record = written ?? recordOf(term, crashes === undefined ? {} : { crashes });
    this.#isWritten = written !== undefined;
    notify('runStarted', this.info);
    this.#startedMs = clock.now();
    if (timeoutMs !== undefined) {
      this.after(timeoutMs, () => {
        this.abort('TIMEOUT');
      });
    }
  }

  /** Created at first use: an AbortController costs more than the rest of an empty run. */
  get signal(): AbortSignal {
    if (this.#aborting === undefined) {
      this.#aborting = new AbortController();
      if (this.#abortCode !== undefined) this.#fire(this.#aborting, this.#abortCode);
    }
    return this.#aborting.signal;
  }

  get previousScheduledAt(): number | undefined {
    const { schedule } = this.parts.job;
    return schedule.kind === 'cron' ? schedule.latest(-Infinity, this.info.scheduledAt.getTime() - 1) : undefined;
  }

  isValid(): boolean {
    return this.term.isValid();
  }

  /** How long the run has taken so far, in milliseconds. */
  get elapsedMs(): number {
    return this.parts.clock.now() - this.#startedMs;
  }

  /** How long ago the signal fired, in milliseconds. -Infinity: it has not. */
  get sinceAbortMs(): number {
    return this.parts.clock.now() - this.#abortedMs;
  }

  /** Why the signal has fired. Undefined: it has not. */
  get abortCode(): RunAbortCode | undefined {
    return this.#abortCode;
  }

  /** Calls `act` after `delayMs`, unless the run has ended or was aborted by then. */
  after(delayMs: number, act: () => void): void {
    this.#timers?.push(this.parts.clock.setTimer(delayMs, act));
  }

  /** Fires the signal of the run; only the first reason counts. */
  abort(code: RunAbortCode): void {
    if (this.#abortCode !== undefined) return;
    this.#abortCode = code;
    this.#abortedMs = this.parts.clock.now();
    // the timers of a run that never ends must not keep the process alive
    this.#cancelTimers();
    if (this.#aborting !== undefined) this.#fire(this.#aborting, code);
  }

  /** Calls the method, and `onEnd` when it has ended: never before this returns. Resolves right after that, and never rejects. */
  async begin(onEnd: (run: RunHandle) => void): Promise<void> {
    const { job, notify, interceptors } = this.parts;
    const run = new JobRun(this.info, this);
    let message: string | undefined;
    try {
      // the lease may have ended while observers of runStarted were called
      run.assertLeader();
      this.wasCalled = true;
      await intercept(interceptors, run, job.invoke);
      this.outcome = 'succeeded';
      notify('runSucceeded', this.#withDuration());
    } catch (error: unknown) {
      // the clocks show the deadline before a timer can fire the signal
      if (run.wasRefused) this.abort('LEASE_LOST');
      // a job that rejects after its signal fired was cancelled and did not fail
      if (this.#abortCode === undefined) {
        this.outcome = 'failed';
        message = messageOf(error).slice(0, MOST_OF_ERROR);
        notify('runFailed', { ...this.#withDuration(), error });
      } else {
        this.outcome = 'cancelled';
        notify('runCancelled', { ...this.#withDuration(), code: this.#abortCode });
      }
      // a method may throw before this function returns
      await Promise.resolve();
    } finally {
      this.#cancelTimers();
      this.#writeEnd(message);
      onEnd(this);
    }
  }

  /** The run lasts: the next leader must be able to report it. */
  writeStart(): void {
    this.#isWritten = true;
    void this.term.save({ run: this.#record });
  }

  #writeEnd(error: string | undefined): void {
    const { term, outcome = 'cancelled' } = this;
    this.#record = { ...this.#record, endedAt: term.storeNowAtMost(), outcome, ...(error !== undefined && { error }) };
    if (this.#isWritten) void term.save({ run: this.#record });
    else term.set({ run: this.#record });
  }

  /** Each property by name: a spread of a frozen object is slow. */
  #withDuration(): RunEnded {
    const { job, kind, cause, scheduledAt, startedAt, fencingToken } = this.info;
    return { job, kind, cause, scheduledAt, startedAt, fencingToken, durationMs: this.elapsedMs };
  }

  #fire(aborting: AbortController, code: RunAbortCode): void {
    aborting.abort(new RunAbortedError(this.info.job, code));
  }

  #cancelTimers(): void {
    for (const timer of this.#timers ?? []) timer.cancel();
    this.#timers = undefined;
  }
}
