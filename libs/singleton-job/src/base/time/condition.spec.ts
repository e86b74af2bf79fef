import { expect, it } from '@jest/globals';
import { ManualClock } from '../../testing/manual-clock.js';
import { Condition } from './condition.js';

it.each([
  ['when it is notified', 5, 500, 5],
  ['after the limit', 500, 500, 100],
  ['when the signal aborts', 500, 7, 7],
])('A condition wakes its callers %s', async (_what, notifiedMs, abortedMs, expected) => {
  const clock = new ManualClock();
  const condition = new Condition(clock);
  const stop = new AbortController();
  const woken = condition.wait(100, stop.signal).then(() => clock.now());
  void clock.sleep(notifiedMs).then(() => {
    condition.notify();
  });
  void clock.sleep(abortedMs).then(() => {
    stop.abort();
  });
  await clock.advance(1_000);
  expect([await woken, clock.pendingTimers]).toEqual([expected, 0]);
});
