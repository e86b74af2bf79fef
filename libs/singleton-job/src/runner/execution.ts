import { type RunAbortCode, RunAbortedError } from '../errors/index.js';
import { type Notify, type RunInfo } from '../events/index.js';
import { JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type Clock, type Timer } from '../time/index.js';

/** Why and for which instant a run is started. */
export type Tick = Pick<RunInfo, 'cause' | 'scheduledAt'>;

/** One run, from its start until the method has settled, however long it ignores its signal. */
export class Execution {
  /** Resolves when the method has settled. Never rejects. */
  readonly settled: Promise<void>;
  readonly info: RunInfo;
  readonly #aborting = new AbortController();
  #abortCode: RunAbortCode | undefined;
  #wasCalled = false;
  /** Undefined once the run has settled or was aborted. */
  #timers: Timer[] | undefined = [];

  constructor(
    private readonly parts: { readonly job: JobDefinition; readonly clock: Clock; readonly notify: Notify },
    tick: Tick,
    term: Term,
  ) {
    const { job, clock, notify } = parts;
    this.info = Object.freeze({
      job: job.name,
      kind: job.schedule.kind,
      ...tick,
      startedAt: new Date(clock.wallNow()),
      fencingToken: term.fencingToken,
    });
    notify('runStarted', this.info);
    this.settled = this.#run(new JobRun(this.info, this.#aborting.signal, () => term.isTrusted()));
  }

  /** Whether the method was called: what took the time of the lease before it leaves nothing that could have ended. */
  get wasCalled(): boolean {
    return this.#wasCalled;
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
    this.#aborting.abort(new RunAbortedError(this.info.job, code));
  }

  async #run(run: JobRun): Promise<void> {
    const { job, clock, notify } = this.parts;
    const startedMs = clock.now();
    if (job.timeoutMs !== undefined) {
      this.after(job.timeoutMs, () => {
        this.abort('TIMEOUT');
      });
    }
    const ended = () => ({ ...this.info, durationMs: clock.now() - startedMs });
    try {
      // an observer of runStarted may have taken the time that the lease had left
      run.assertLeader();
      this.#wasCalled = true;
      await job.invoke(run);
      notify('runSucceeded', ended());
    } catch (error: unknown) {
      // the clocks know of the deadline before a timer can fire the signal
      if (run.wasRefused) this.abort('LEASE_LOST');
      // a job that rejects after its signal fired was cancelled, it did not fail
      if (this.#abortCode === undefined) notify('runFailed', { ...ended(), error });
      else notify('runCancelled', { ...ended(), code: this.#abortCode });
    } finally {
      this.#cancelTimers();
    }
  }

  #cancelTimers(): void {
    for (const timer of this.#timers ?? []) timer.cancel();
    this.#timers = undefined;
  }
}
