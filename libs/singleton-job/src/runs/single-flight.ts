import { type RunAbortCode } from '../base/errors/run.errors.js';
import { type RunInfo } from '../base/events/run-info.js';
import { instant } from '../base/time/clock.js';
import { type RunRecord } from '../leadership/record.js';
import { type Term } from '../leadership/term.js';
import { HEALTHY_RUN_MS } from './inheritance.js';
import { RunHandle, type RunnerParts, type Tick } from './run-handle.js';

/** Two clocks that differ by less agree: they are read one after the other. */
const IN_STEP_MS = 10;
/** A run of `@WhileLeader` that has not ended so long after its signal is reported. */
const SETTLE_LIMIT_MS = 10_000;
/** A slow run that is aborted has so much time to end before it is reported once more. */
const ABORT_GRACE_MS = 1_000;
/** The start of a run that lasts longer is written, so that the next leader can report it if this one dies. */
const WRITTEN_AFTER_MS = 10_000;

/** Allows one run of a job at a time. */
export class SingleFlight {
  #inFlight: RunHandle | undefined;
  /** A run is about to start: its claim or its trigger is being written. */
  #isReserved = false;
  #waiting: (() => void)[] = [];
  /** The run that was last reported as slow, and why it was aborted by then. */
  #slow: { readonly run: RunHandle; readonly abortCode: RunAbortCode | undefined } | undefined;
  /** When the latest run ended, monotonic; -Infinity while none has. */
  endedAtMs = -Infinity;
  /** How many runs in a row have thrown. One that lasted 30 s or longer before it threw is the first of its row. */
  failures = 0;
  /** Whether no further run starts. The next leader reports what is claimed from now on. */
  isClosed = false;

  constructor(private readonly parts: RunnerParts) {}

  /** Whether a run is in flight or about to start. */
  get isBusy(): boolean {
    return this.#inFlight !== undefined || this.#isReserved;
  }

  /** Whether a run was in flight at any time since `sinceMs`, monotonic. */
  ranSince(sinceMs: number): boolean {
    return this.#inFlight !== undefined || this.endedAtMs > sinceMs;
  }

  /** The run in flight; undefined if there is none. */
  get inFlight(): RunInfo | undefined {
    return this.#inFlight?.info;
  }

  /** How long the run in flight has been running; undefined if there is none. */
  get elapsedMs(): number | undefined {
    return this.#inFlight?.elapsedMs;
  }

  /** Keeps the place of a run that is about to start, until the returned function is called. It may not be busy. */
  reserve(): () => void {
    this.#isReserved = true;
    let isKept = true;
    return () => {
      if (!isKept) return;
      isKept = false;
      this.#isReserved = false;
      this.#settle();
    };
  }

  /** Starts a run. None may be in flight. `written`: its record, which the store has already. */
  start(tick: Tick, term: Term, written?: RunRecord): RunInfo {
    const run = new RunHandle(this.parts, tick, term, written);
    void run.begin(this.#ended);
    this.#inFlight = run;
    if (written === undefined) {
      run.after(WRITTEN_AFTER_MS, () => {
        run.writeStart();
      });
    }
    this.#watchWallClock(run, term);
    return run.info;
  }

  readonly #ended = (run: RunHandle): void => {
    this.#inFlight = undefined;
    if (run.wasCalled) {
      this.endedAtMs = this.parts.clock.now();
      if (run.outcome === 'failed') this.failures = run.elapsedMs < HEALTHY_RUN_MS ? this.failures + 1 : 1;
      else if (run.abortCode === undefined) this.failures = 0;
    }
    this.#settle();
  };

  #settle(): void {
    if (!this.isBusy && this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Aborts the run in flight, if there is one. */
  abort(code: RunAbortCode): void {
    this.#inFlight?.abort(code);
  }

  /** Aborts the run in flight. No other run starts. */
  close(code: RunAbortCode): void {
    this.isClosed = true;
    this.abort(code);
  }

  /** Resolves once nothing runs and nothing is about to. */
  whenIdle(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Reports a run that takes longer than `warnAfter`, once, and once more if it continues after its abort. A run of `@WhileLeader` takes any
   * time, but not after its abort.
   */
  reportIfSlow(): void {
    const run = this.#inFlight;
    const { notify, job } = this.parts;
    if (run === undefined) return;
    const { info, elapsedMs, abortCode, sinceAbortMs } = run;
    const isWhileLeader = job.schedule.kind === 'while-leader';
    const warnAfterMs = isWhileLeader ? SETTLE_LIMIT_MS : (job.warnAfterMs ?? Infinity);
    if ((isWhileLeader ? sinceAbortMs : elapsedMs) < warnAfterMs) return;
    if (abortCode !== undefined && sinceAbortMs < ABORT_GRACE_MS) return;
    if (this.#slow?.run === run && this.#slow.abortCode === abortCode) return;
    this.#slow = { run, abortCode };
    notify('runSlow', { ...info, elapsedMs, warnAfterMs, ...(abortCode !== undefined && { abortCode }) });
  }

  /**
   * The timer of a term uses the monotonic clock. The wall clock may leave less of the lease, because the host was suspended or the clock
   * was set. Then the run is aborted by the wall clock.
   */
  #watchWallClock(run: RunHandle, term: Term): void {
    const { now, wall } = instant(this.parts.clock);
    const { deadline } = term;
    const remainingMs = deadline.wall - wall;
    if (remainingMs > deadline.now - now - IN_STEP_MS) return;
    run.after(remainingMs, () => {
      if (term.isValid()) this.#watchWallClock(run, term);
      else run.abort('LEASE_LOST');
    });
  }
}
