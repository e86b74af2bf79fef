import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type RunAbortCode } from '../errors/index.js';
import { type Notify, type RunInfo } from '../events/index.js';
import { type Clock } from '../time/index.js';
import { Execution, type Tick } from './execution.js';

/** Clocks that differ by less are in step: they are read one after the other, and the wall clock counts whole milliseconds. */
const IN_STEP_MS = 10;

interface OverlapGuardParts {
  readonly job: JobDefinition;
  readonly clock: Clock;
  readonly notify: Notify;
  /** A run has settled that was started under this term, and its method was called. */
  readonly onEnd: (term: Term) => void;
}

/** Lets one run of a job start at a time. */
export class OverlapGuard {
  #inFlight: Execution | undefined;
  #settled = Promise.resolve();
  #saidSlowUnder: Term | undefined;
  #endedAtMs = -Infinity;
  #isClosed = false;

  constructor(private readonly parts: OverlapGuardParts) {}

  get isBusy(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Whether no run starts any more: what is claimed from now on is the next leader's to report. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** When the latest run settled, monotonic; -Infinity while none has. */
  get endedAtMs(): number {
    return this.#endedAtMs;
  }

  /** Whether a run was in flight at any time since `sinceMs`, monotonic. */
  ranSince(sinceMs: number): boolean {
    return this.isBusy || this.#endedAtMs > sinceMs;
  }

  /** The run in flight; undefined if there is none. */
  get inFlight(): RunInfo | undefined {
    return this.#inFlight?.info;
  }

  /** Starts a run on the free guard. */
  start(tick: Tick, term: Term): RunInfo {
    const execution = new Execution(this.parts, tick, term);
    this.#inFlight = execution;
    this.#watchForSlowness(execution, term);
    this.#watchWallClock(execution, term);
    this.#settled = execution.settled.then(() => {
      this.#inFlight = undefined;
      if (!execution.wasCalled) return;
      this.#endedAtMs = this.parts.clock.now();
      this.parts.onEnd(term);
    });
    return execution.info;
  }

  /** Aborts the run in flight, if there is one. */
  abort(code: RunAbortCode): void {
    this.#inFlight?.abort(code);
  }

  /** Aborts the run in flight, and lets no other start. */
  close(code: RunAbortCode): void {
    this.#isClosed = true;
    this.abort(code);
  }

  /** Resolves once nothing runs. */
  free(): Promise<void> {
    return this.#settled;
  }

  /**
   * The timer of a term goes by the monotonic clock. Where the wall clock leaves less of the lease, because the host was suspended or
   * the clock was set, the run is aborted by that.
   */
  #watchWallClock(execution: Execution, term: Term): void {
    if (term.wallRemainingMs > term.remainingMs - IN_STEP_MS) return;
    execution.after(term.wallRemainingMs, () => {
      if (term.isTrusted()) this.#watchWallClock(execution, term);
      else execution.abort('LEASE_LOST');
    });
  }

  #watchForSlowness(execution: Execution, term: Term): void {
    const { notify, clock } = this.parts;
    const { warnAfterMs } = this.parts.job;
    if (warnAfterMs === undefined || this.#saidSlowUnder === term) return;
    const startedMs = clock.now();
    execution.after(warnAfterMs, () => {
      this.#saidSlowUnder = term;
      notify('runSlow', { ...execution.info, elapsedMs: clock.now() - startedMs, warnAfterMs });
    });
  }
}
