import { expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { ManualClock } from '../../testing/manual-clock.js';
import { sleep } from './sleep.js';

it.each([
  ['after its delay', 1_000],
  ['when its signal aborts', 400],
  ['at once if its signal has aborted before', 0],
])('A sleep ends %s, and leaves neither a listener nor a timer', async (_when, endMs) => {
  const [clock, stop] = [new ManualClock(), new AbortController()];
  if (endMs === 0) stop.abort();
  const slept = sleep(clock, 1_000, stop.signal).then(() => clock.now());
  await clock.advance(endMs);
  if (endMs < 1_000) stop.abort();
  expect([await slept, clock.pendingTimers]).toEqual([endMs, 0]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
