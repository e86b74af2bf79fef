import { type RunAbortCode, RunAbortedError } from '../errors/index.js';
import { type Notify, type RunInfo } from '../events/index.js';
import { JobRun, type RunControl } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type Clock, type Timer } from '../time/index.js';

/** Why and for which instant a run is started. */
export type Tick = Pick<RunInfo, 'cause' | 'scheduledAt'>;

/** One run, from its start until the method has settled, however long it ignores its signal. */
export class Execution implements RunControl {
  /** Resolves when the method has settled. Never rejects. */
  readonly settled: Promise<void>;
  readonly info: RunInfo;
  readonly #startedMs: number;
  #aborting: AbortController | undefined;
  #abortCode: RunAbortCode | undefined;
  #wasCalled = false;
  /** Undefined once the run has settled or was aborted. */
  #timers: Timer[] | undefined = [];

  constructor(
    private readonly parts: { readonly job: JobDefinition; readonly clock: Clock; readonly notify: Notify },
    { scheduledAt, cause }: Tick,
    readonly term: Term,
  ) {
    const { job, clock, notify } = parts;
    const { name, schedule, timeoutMs } = job;
    const { fencingToken } = term;
    const startedAt = new Date(clock.wallNow());
    this.info = Object.freeze({ job: name, kind: schedule.kind, cause, scheduledAt, startedAt, fencingToken });
    notify('runStarted', this.info);
    this.#startedMs = clock.now();
    if (timeoutMs !== undefined) {
      this.after(timeoutMs, () => {
        this.abort('TIMEOUT');
      });
    }
    this.settled = this.#run(new JobRun(this.info, this));
  }

  /** Made when the job first asks for it: an AbortController costs more than the rest of an empty run. */
  get signal(): AbortSignal {
    if (this.#aborting === undefined) {
      this.#aborting = new AbortController();
      if (this.#abortCode !== undefined) this.#fire(this.#aborting, this.#abortCode);
    }
    return this.#aborting.signal;
  }

  isTrusted(): boolean {
    return this.term.isTrusted();
  }

  /** Whether the method was called: what took the time of the lease before it leaves nothing that could have ended. */
  get wasCalled(): boolean {
    return this.#wasCalled;
  }

  /** How long it has been running. */
  get elapsedMs(): number {
    return this.parts.clock.now() - this.#startedMs;
  }

  /** Why its signal has fired; undefined while it has not. */
  get abortCode(): RunAbortCode | undefined {
    return this.#abortCode;
  }

  /** Does something later, unless the run has settled or was aborted by then. */
  after(delayMs: number, act: () => void): void {
    this.#timers?.push(this.parts.clock.setTimer(delayMs, act));
  }

  /** Fires the signal of the run; only the first reason counts. */
  abort(code: RunAbortCode): void {
    if (this.#abortCode !== undefined) return;
    this.#abortCode = code;
    // no timer may keep a process alive whose run will not end
    this.#cancelTimers();
    if (this.#aborting !== undefined) this.#fire(this.#aborting, code);
  }

  async #run(run: JobRun): Promise<void> {
    const { job, notify } = this.parts;
    try {
      // an observer of runStarted may have taken the time that the lease had left
      run.assertLeader();
      this.#wasCalled = true;
      await job.invoke(run);
      notify('runSucceeded', this.#ended());
    } catch (error: unknown) {
      // the clocks know of the deadline before a timer can fire the signal
      if (run.wasRefused) this.abort('LEASE_LOST');
      // a job that rejects after its signal fired was cancelled, it did not fail
      if (this.#abortCode === undefined) notify('runFailed', { ...this.#ended(), error });
      else notify('runCancelled', { ...this.#ended(), code: this.#abortCode });
    } finally {
      this.#cancelTimers();
    }
  }

  #ended() {
    return { ...this.info, durationMs: this.elapsedMs };
  }

  #fire(aborting: AbortController, code: RunAbortCode): void {
    aborting.abort(new RunAbortedError(this.info.job, code));
  }

  #cancelTimers(): void {
    for (const timer of this.#timers ?? []) timer.cancel();
    this.#timers = undefined;
  }
}
