import { type Clock, sleep } from '../time/index.js';

/** Resolves with `work`, or as soon as `signal` aborts. */
export async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let leave: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    leave = resolve;
  });
  signal.addEventListener('abort', leave);
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', leave);
}

export interface InterruptibleSleep {
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
