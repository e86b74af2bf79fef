import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type Notify } from '../events/index.js';
import { type Clock, sleep, unlessAborted } from '../time/index.js';
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
}

/**
 * The longest that anybody sleeps towards an instant of the wall clock before looking at it again: it may have been
 * stepped meanwhile, or stood still with the host.
 */
export const MAX_SLEEP_MS = 30_000;

interface InterruptibleSleep {
  readonly clock: Clock;
  readonly delayMs: number;
  readonly quit: AbortSignal;
  /** Ends the sleep early. */
  readonly until: Promise<void>;
}

/** Resolves after `delayMs`, with `until`, or as soon as `quit` aborts. */
export async function interruptibleSleep({ clock, delayMs, quit, until }: InterruptibleSleep): Promise<void> {
  const awake = new AbortController();
  await unlessAborted(Promise.race([until, sleep(clock, delayMs, awake.signal)]), quit);
  awake.abort();
}
