import { type RunAbortCode } from '../base/errors/run.errors.js';
import { detached } from '../base/time/detached.js';
import { type RunInContext } from '../commands/caller-context.js';
import { type LeaderFields } from '../leadership/record.js';
import { type TermHandle } from '../leadership/term.js';
import { HEALTHY_RUN_MS } from './inheritance.js';
import { finish } from './perform.js';
import { Run, type RunnerParts, type RunStart } from './run.js';

/** The runs of a job: one at a time. */
export class SingleFlight {
  /** The run in flight. */
  inFlight: Run | undefined;
  /** A run is about to start: its claim or its trigger is being written. */
  #isReserved = false;
  /** What {@link whenIdle} has returned while it is busy, and what resolves it. */
  #idle: Promise<void> | undefined;
  #resolveIdle: (() => void) | undefined;
  /** When the latest run ended, monotonic; -Infinity while none has. */
  endedAtMs = -Infinity;
  /** How many runs in a row have thrown. One that lasted 30 s or longer before it threw is the first of its row. */
  failures = 0;
  /** Whether no further run starts. The next leader reports what is claimed from now on. */
  isClosed = false;

  constructor(private readonly parts: RunnerParts) {}

  /** Whether a run is in flight or about to start. */
  get isBusy(): boolean {
    return this.inFlight !== undefined || this.#isReserved;
  }

  /** Whether a run was in flight at any time since `sinceMs`, monotonic. */
  ranSince(sinceMs: number): boolean {
    return this.inFlight !== undefined || this.endedAtMs > sinceMs;
  }

  /** Lets no other run start, until {@link free}. Call it only when nothing runs. */
  reserve(): void {
    this.#isReserved = true;
  }

  /** Ends {@link reserve}. A run that starts is started before: a job that nothing runs of may be released. */
  free(): void {
    this.#isReserved = false;
    this.#settle();
  }

  /**
   * Writes that a run is about to start. Resolves to whether it may. If not, the next leader reports what the record
   * has.
   */
  async claim(term: TermHandle, fields: LeaderFields): Promise<boolean> {
    this.reserve();
    const isWritten = await term.claim(fields);
    // the host may have been suspended between the claim and its answer
    if (isWritten) await term.untilValid();
    this.free();
    return isWritten && term.isValid() && !this.isClosed;
  }

  /** Starts a run, in an async context of its own. None may be in flight. */
  start(start: RunStart, context: RunInContext = detached): void {
    this.inFlight = new Run(this.parts, start);
    context(this.#begin);
  }

  // fields, so that no run makes functions of its own

  readonly #begin = (): void => {
    this.inFlight?.begin().then(this.#returned, this.#threw);
  };

  readonly #returned = (returned: unknown): void => {
    const run = this.inFlight;
    if (run === undefined) return;
    // most jobs return nothing
    if (returned === undefined) this.#succeeded();
    else finish(returned, this.parts.job, run).then(this.#succeeded, this.#threw);
  };

  readonly #succeeded = (): void => {
    this.inFlight?.succeed();
    this.#ended();
  };

  readonly #threw = (thrown: unknown): void => {
    const { location } = this.parts.job;
    this.inFlight?.fail(thrown ?? new Error(`${location} threw ${String(thrown)}: throw an Error, which has a stack`));
    this.#ended();
  };

  #ended(): void {
    const run = this.inFlight;
    this.inFlight = undefined;
    if (run?.wasCalled === true && run.endedAtMs !== undefined) {
      this.endedAtMs = run.endedAtMs;
      if (run.outcome === 'failed') this.failures = run.durationMs < HEALTHY_RUN_MS ? this.failures + 1 : 1;
      else if (run.abortCode === undefined) this.failures = 0;
    }
    this.#settle();
  }

  #settle(): void {
    if (this.isBusy) return;
    this.#resolveIdle?.();
    this.#resolveIdle = this.#idle = undefined;
  }

  /** Aborts the run in flight. No other run starts. */
  close(code: RunAbortCode): void {
    this.isClosed = true;
    this.inFlight?.abort(code);
  }

  /**
   * Resolves once nothing runs and nothing is about to. One promise for all callers of that time: a loop calls it at
   * each tick of a run that may ignore its signal for ever.
   */
  whenIdle(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    return (this.#idle ??= new Promise((resolve) => {
      this.#resolveIdle = resolve;
    }));
  }
}
