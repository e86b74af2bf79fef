import { type RunInfo } from './run-info.js';

/**
 * Wraps every run, to give it a context: a transaction, a span, a store of `AsyncLocalStorage`. It calls `next` and
 * returns the promise of `next`: `return storage.run(context, next)`.
 *
 * An interceptor is part of the job, unlike a `JobObserver`. An error that it throws fails the run. If it never
 * calls `next`, the job does not run.
 *
 * `next` runs the job once, also if it is called several times. If the signal has fired, it rejects without running the
 * job. The run lasts until the interceptor and the job have ended.
 *
 * @example
 * ```ts
 * const inTransaction: RunInterceptor = { intercept: (_run, next) => database.transaction(() => next()) };
 * ```
 */
export interface RunInterceptor {
  /** Called for each run, before the job. `run` is the `JobRun` that the job gets. Return the result of `next()`. */
  intercept(
    run: RunInfo & {
      /** Fires when the run must end. */
      readonly signal: AbortSignal;
      /**
       * Whether the last `assertLeader()` of the run threw. A run that throws after that counts as cancelled, as after
       * its signal.
       */
      readonly wasRefused: boolean;
    },
    next: () => Promise<unknown>,
  ): unknown;
}
