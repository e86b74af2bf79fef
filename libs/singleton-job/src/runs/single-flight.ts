import { type RunAbortCode } from '../base/errors/run.errors.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Term } from '../leadership/term.js';
import { type Clock, instant } from '../base/time/clock.js';
import { HEALTHY_RUN_MS, newRecord, type RunOrigin, type RunRecord, writeLastRun } from './last-run.js';
import { RunHandle, type RunnerParts, type Tick } from './run-handle.js';

/** Two clocks that differ by less agree: they are read one after the other. */
const IN_STEP_MS = 10;
/** A run of `@WhileLeader` that has not ended so long after its signal is reported. */
const SETTLE_LIMIT_MS = 10_000;

/** Allows one run of a job at a time. */
export class SingleFlight {
  #inFlight: RunHandle | undefined;
  #idle = Promise.resolve();
  /** The run that was last reported as slow, and why it was aborted by then. */
  #slow: { readonly run: RunHandle; readonly abortCode: RunAbortCode | undefined } | undefined;
  #endedAtMs = -Infinity;
  #failures = 0;
  #started = 0;
  #isClosed = false;

  /** `onEnd` is called when a run of a term has ended, if its method was called. */
  constructor(
    private readonly parts: RunnerParts,
    private readonly onEnd: (term: Term) => void,
  ) {}

  get isBusy(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Whether no further run starts. The next leader reports what is claimed from now on. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** When the latest run ended, monotonic; -Infinity while none has. */
  get endedAtMs(): number {
    return this.#endedAtMs;
  }

  /** How many runs in a row have thrown. One that lasted 30 s or longer before it threw is the first of its row. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether a run was in flight at any time since `sinceMs`, monotonic. */
  ranSince(sinceMs: number): boolean {
    return this.isBusy || this.#endedAtMs > sinceMs;
  }

  /** The run in flight; undefined if there is none. */
  get inFlight(): RunInfo | undefined {
    return this.#inFlight?.info;
  }

  /** How long the run in flight has been running; undefined if there is none. */
  get elapsedMs(): number | undefined {
    return this.#inFlight?.elapsedMs;
  }

  /** Records in the store that a run is about to begin. For a run that may end its process. */
  async announce(crashes: number, term: Term): Promise<void> {
    const { clock } = this.parts;
    const record = newRecord(Math.floor(clock.wallNow()), crashes);
    const origin = { holder: term.holder, token: term.fencingToken, number: 0 };
    await term.runBegins(describer(record, origin, clock));
  }

  /** Starts a run. None may be in flight. */
  start(tick: Tick, term: Term): RunInfo {
    const run = new RunHandle(this.parts, tick, term);
    this.#idle = run.begin(this.#ended);
    this.#inFlight = run;
    this.#started += 1;
    const origin = { holder: term.holder, token: term.fencingToken, number: this.#started };
    term.runBegan(describer(run.record, origin, this.parts.clock));
    // the term ended while the run began, so the listeners of its signal could not abort the run yet
    if (term.end !== undefined) run.abort('LEASE_LOST');
    this.#watchWallClock(run, term);
    return run.info;
  }

  readonly #ended = (run: RunHandle): void => {
    this.#inFlight = undefined;
    if (!run.wasCalled) return;
    this.#endedAtMs = this.parts.clock.now();
    if (run.record.outcome === 'failed') this.#failures = run.elapsedMs < HEALTHY_RUN_MS ? this.#failures + 1 : 1;
    else if (run.abortCode === undefined) this.#failures = 0;
    this.onEnd(run.term);
  };

  /** Aborts the run in flight, if there is one. */
  abort(code: RunAbortCode): void {
    this.#inFlight?.abort(code);
  }

  /** Aborts the run in flight. No other run starts. */
  close(code: RunAbortCode): void {
    this.#isClosed = true;
    this.abort(code);
  }

  /** Resolves once nothing runs. */
  whenIdle(): Promise<void> {
    return this.#idle;
  }

  /**
   * Reports a run that takes longer than `warnAfter`, once, and once more if it continues after its abort. A run of `@WhileLeader` takes any
   * time, but not after its abort.
   */
  reportIfSlow(): void {
    const run = this.#inFlight;
    const { notify, job } = this.parts;
    if (run === undefined) return;
    const { info, elapsedMs, abortCode } = run;
    const isWhileLeader = job.schedule.kind === 'while-leader';
    const warnAfterMs = isWhileLeader ? SETTLE_LIMIT_MS : (job.warnAfterMs ?? Infinity);
    if ((isWhileLeader ? run.sinceAbortMs : elapsedMs) < warnAfterMs) return;
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

/** Outside of the class, so that it keeps nothing else of the run in memory. */
function describer(record: RunRecord, origin: Omit<RunOrigin, 'recordedAt'>, clock: Clock): () => string {
  return () => writeLastRun(record, { ...origin, recordedAt: Math.round(clock.wallNow()) });
}
