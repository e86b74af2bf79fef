import { expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { ManualClock } from '../testing/manual-clock.js';
import { Condition } from './condition.js';

it.each([
  ['when it is met and notified', { metMs: 5, notifiedMs: 7 }, [7, true]],
  ['at the limit, if it is not met', { metMs: 200 }, [100, false]],
  ['when it is met at the limit, without a notification', { metMs: 20 }, [100, true]],
  ['when the signal aborts', { metMs: 5, abortedMs: 7 }, [7, false]],
])('A condition wakes its callers %s', async (_what, times, expected) => {
  const { metMs, notifiedMs = 500, abortedMs = 500 } = times as { metMs: number; [name: string]: number };
  const clock = new ManualClock();
  const condition = new Condition(clock);
  const stop = new AbortController();
  const isMet = condition.until(() => clock.now() >= metMs, 100, stop.signal).then((met) => [clock.now(), met]);
  void clock.sleep(notifiedMs).then(() => {
    condition.notify();
  });
  void clock.sleep(abortedMs).then(() => {
    stop.abort();
  });
  await clock.advance(1_000);
  expect([await isMet, clock.pendingTimers]).toEqual([expected, 0]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
