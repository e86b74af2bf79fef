import { type Clock, type Timer } from './clock.js';

/**
 * Calls `passed` once no time is left until a deadline, which may move to a later time. A move does not touch the timer: when it fires, it
 * reads the rest again. So a timer that fires early is set again too.
 */
export function atDeadline(clock: Clock, remainingMs: () => number, passed: () => void): Timer {
  let timer: Timer | undefined;
  const check = (): void => {
    const restMs = remainingMs();
    if (restMs > 0) timer = clock.setTimer(restMs, check);
    else passed();
  };
  check();
  return { cancel: () => timer?.cancel() };
}
