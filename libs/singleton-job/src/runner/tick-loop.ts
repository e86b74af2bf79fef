import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type Notify } from '../events/index.js';
import { type Clock, type Sleeper } from '../time/index.js';
import { type OverlapGuard } from './overlap-guard.js';

/** What the three ways of keeping time work with, for one term. */
export interface TickLoopParts {
  readonly job: JobDefinition;
  readonly term: Term;
  readonly guard: OverlapGuard;
  readonly clock: Clock;
  readonly notify: Notify;
  /** Aborts when the term ends or the application stops: no new tick is fired from then on. */
  readonly quit: AbortSignal;
  /** Sleeps until `quit` at the latest. */
  readonly sleeper: Sleeper;
}

/**
 * The longest that anybody sleeps towards an instant of the wall clock before looking at it again: it may have been
 * stepped meanwhile, or stood still with the host.
 */
export const MAX_SLEEP_MS = 30_000;
