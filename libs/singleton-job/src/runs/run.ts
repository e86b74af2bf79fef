import { describeError, MAX_ERROR_LENGTH } from '../base/errors/message-of.js';
import { LeaseLostError, type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { type Notify } from '../base/events/events.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type Clock, type Timer } from '../base/time/clock.js';
import { abortController } from '../base/time/sleep.js';
import { JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { type RunRecord } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type TermHandle } from '../leadership/term.js';
import { replicaOf } from '../store/lease-id.js';
import { intercept } from './intercept.js';
import { perform } from './perform.js';

/** A run of `@WhileLeader` that has not ended so long after its signal is reported. */
const SETTLE_LIMIT_MS = 10_000;
/** A slow run that is aborted has so much time to end before it is reported once more. */
const ABORT_LIMIT_MS = 1_000;
/** The start of a run that lasts longer is written, so that the next leader can report it if this one dies. */
const WRITTEN_AFTER_MS = 10_000;

/** What the runs of a job need beside a term. */
export interface RunnerParts {
  readonly job: Job;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly notify: Notify;
  /** Wrap each run, the first one outermost. */
  readonly interceptors: readonly RunInterceptor[];
}

/** What a run is started with. */
export interface RunStart extends Pick<RunInfo, 'cause'> {
  readonly term: TermHandle;
  /** In milliseconds since the epoch. */
  readonly scheduledAt: number;
  /** What the store has of it: its claim. @default nothing */
  readonly record?: RunRecord | undefined;
  /** See {@link RunRecord}. */
  readonly crashes?: number;
  /** What a cron run makes up for. @default nothing */
  readonly missed?: JobRun['missed'];
}

/** What a record gets of a run that begins now. */
export function runRecordOf(term: TermHandle, more?: Partial<RunRecord>): RunRecord {
  const { occurrence } = term.fields.run ?? {};
  const by = replicaOf(term.holder);
  return { startedAt: term.storeNow(), by, ...(occurrence !== undefined && { occurrence }), ...more };
}

/**
 * One run, from its start until the method has ended, also if it ignores its signal. The method gets it, and so do
 * observers of the library: others get a copy.
 */
export class Run extends JobRun {
  readonly missed: JobRun['missed'];
  /** How its method ended. Undefined: it has not. */
  outcome: Exclude<RunRecord['outcome'], undefined> | undefined;
  /** When it ended, by the monotonic clock. Undefined: it has not. */
  endedAtMs: number | undefined;
  /** Whether the method was called. False: the lease ended before that, so no run of the job has to end. */
  wasCalled = false;
  /** Why the signal has fired. Undefined: it has not. */
  abortCode: RunAbortCode | undefined;
  readonly #parts: RunnerParts;
  readonly #term: TermHandle;
  /** What the record of the job gets of it. */
  readonly #record: RunRecord;
  /** Whether the store has its start: then it gets its end at once. */
  #isWritten: boolean;
  readonly #startedMs: number;
  #aborting: AbortController | undefined;
  #abortedMs = Infinity;
  #timeout: Timer | undefined;
  /** How often it was reported as slow: once, and once more after its abort. */
  #slowReports = 0;

  constructor(parts: RunnerParts, { term, cause, scheduledAt, record, crashes, missed = null }: RunStart) {
    const { job, clock } = parts;
    const startedMs = clock.now();
    super({
      job: job.name,
      kind: job.schedule.kind,
      cause,
      scheduledAt,
      startedAt: clock.wallNow(startedMs),
      fencingToken: term.fencingToken,
    });
    this.missed = missed;
    this.#parts = parts;
    this.#term = term;
    this.#record = record ?? runRecordOf(term, crashes === undefined ? undefined : { crashes });
    this.#isWritten = record !== undefined;
    this.#startedMs = startedMs;
  }

  /** Created at first use: an AbortController costs more than the rest of an empty run. */
  get signal(): AbortSignal {
    if (this.#aborting === undefined) {
      this.#aborting = abortController();
      this.#fire();
    }
    return this.#aborting.signal;
  }

  get previousScheduledAt(): Date | null {
    const { schedule } = this.#parts.job;
    const previous = schedule.kind === 'cron' ? schedule.latest(this.scheduledAt.getTime() - 1) : undefined;
    return previous === undefined ? null : new Date(previous);
  }

  protected get clock(): Clock {
    return this.#parts.clock;
  }

  protected isValid(): boolean {
    return this.#term.isValid();
  }

  /** How long it took, in milliseconds, or has taken so far. */
  get durationMs(): number {
    return (this.endedAtMs ?? this.clock.now()) - this.#startedMs;
  }

  override toJSON(): RunInfo {
    return this.outcome === undefined ? super.toJSON() : this.#ended();
  }

  /** What observers get of it that ended. */
  #ended(): RunInfo & { readonly durationMs: number } {
    return { ...super.toJSON(), durationMs: this.durationMs };
  }

  /** Fires the signal of the run; only the first reason counts. */
  abort(code: RunAbortCode): void {
    if (this.abortCode !== undefined) return;
    this.abortCode = code;
    this.#abortedMs = this.clock.now();
    this.#timeout?.cancel();
    this.#fire();
  }

  #fire(): void {
    if (this.abortCode !== undefined) this.#aborting?.abort(new RunAbortedError(this.job, this.abortCode));
  }

  /** Calls the method, unless the lease has ended. Settles as it does. */
  begin(): Promise<unknown> {
    const { job, clock, notify, interceptors } = this.#parts;
    notify('runStarted', this);
    if (job.timeoutMs !== undefined) this.#timeout = clock.setTimer(job.timeoutMs, this.abort.bind(this, 'TIMEOUT'));
    try {
      // it may have ended while observers of runStarted were called
      if (!this.isValid()) throw new LeaseLostError(job.name);
      this.wasCalled = true;
      const isPlain = interceptors.length === 0;
      return Promise.resolve(isPlain ? job.invoke(this) : intercept(interceptors, this, perform.bind(undefined, job)));
    } catch (thrown) {
      const error = thrown as Error;
      return Promise.reject(error);
    }
  }

  /** The method has ended. */
  succeed(): void {
    this.#end('succeeded');
    const { abortCode } = this;
    this.#parts.notify('runSucceeded', abortCode === undefined ? this : { ...this.#ended(), abortCode });
  }

  /** The method threw, or was not called. */
  fail(error: unknown): void {
    const { notify } = this.#parts;
    // the clocks show the deadline before a timer can fire the signal
    if (this.wasRefused || !this.wasCalled) this.abort('LEASE_LOST');
    const { abortCode: code } = this;
    if (code === undefined) {
      this.#end('failed', { error: describeError(error, MAX_ERROR_LENGTH) });
      notify('runFailed', { ...this.#ended(), error });
      return;
    }
    // a job that rejects after its signal fired was cancelled and did not fail
    this.#end('cancelled');
    notify('runCancelled', { ...this.#ended(), code });
  }

  #end(outcome: Exclude<RunRecord['outcome'], undefined>, error?: Pick<RunRecord, 'error'>): void {
    this.#timeout?.cancel();
    this.outcome = outcome;
    this.endedAtMs = this.clock.now();
    // what is kept of the last run is not what its listeners hold
    this.#aborting = undefined;
    this.#write({ endedAt: this.#term.storeNowAtMost(), outcome, ...error, ...this.#record });
  }

  #write(record: RunRecord): void {
    // one that was left out during the run
    const { occurrence = 0 } = this.#term.fields.run ?? {};
    const run = occurrence > (record.occurrence ?? Infinity) ? { ...record, occurrence } : record;
    if (this.#isWritten) void this.#term.save({ run });
    else this.#term.set({ run });
  }

  /**
   * Called four times a second. Writes the start of a run that lasts. Reports one that takes longer than `warnAfter`,
   * once, and once more if it continues after its abort. A run of `@WhileLeader` takes any time, but not after its
   * abort.
   */
  checkProgress(): void {
    const { notify, job, clock } = this.#parts;
    const { durationMs: elapsedMs, abortCode } = this;
    if (!this.#isWritten && abortCode === undefined && elapsedMs >= WRITTEN_AFTER_MS) {
      this.#isWritten = true;
      this.#write(this.#record);
    }
    const sinceAbortMs = clock.now() - this.#abortedMs;
    const isWhileLeader = job.schedule.kind === 'while-leader';
    const warnAfterMs = isWhileLeader ? SETTLE_LIMIT_MS : (job.warnAfterMs ?? Infinity);
    if ((isWhileLeader ? sinceAbortMs : elapsedMs) < warnAfterMs) return;
    if (abortCode !== undefined && sinceAbortMs < ABORT_LIMIT_MS) return;
    const reports = abortCode === undefined ? 1 : 2;
    if (this.#slowReports >= reports) return;
    this.#slowReports = reports;
    notify('runSlow', { ...this.toJSON(), elapsedMs, warnAfterMs, ...(abortCode !== undefined && { abortCode }) });
  }
}
