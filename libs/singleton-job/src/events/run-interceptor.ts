import { type RunInfo } from './events.js';

/** A run that is about to begin, and how it stands with it from then on. */
export interface InterceptedRun extends RunInfo {
  /** Fires when the run must end. */
  readonly signal: AbortSignal;
  /** Whether the lease was refused when the run last asked for it: if it throws then, it is cancelled, as after its signal. */
  readonly wasRefused: boolean;
}

/**
 * Wraps every run, to give it a context: a transaction, a span, a store of `AsyncLocalStorage`. It calls `next` and returns
 * when that has settled: `return storage.run(context, next)`. What it throws fails the run, and one that never calls `next`
 * keeps the job from running: an interceptor is part of the job, unlike a {@link JobObserver}.
 *
 * `next` runs the job once, however often it is called, and rejects without running it when the signal has fired. The run
 * lasts until both have settled.
 *
 * @example
 * ```ts
 * const inTransaction: RunInterceptor = { intercept: (_run, next) => database.transaction(() => next()) };
 * ```
 */
export interface RunInterceptor {
  /** Called for each run, before its job is. Return what `next()` returns. */
  intercept(run: InterceptedRun, next: () => Promise<unknown>): unknown;
}
