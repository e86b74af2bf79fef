import { expect, it } from '@jest/globals';
import { monotonicOriginMs } from './thread-data.js';

it('The origin of performance.now() is read from the monotonic clock of all threads', () => {
  const sharedNowMs = () => Number(process.hrtime.bigint()) / 1e6;
  const originMs = monotonicOriginMs();
  const earliestMs = sharedNowMs();
  const ownNowMs = performance.now();
  const latestMs = sharedNowMs();
  expect(originMs + ownNowMs).toBeGreaterThan(earliestMs - 0.1);
  expect(originMs + ownNowMs).toBeLessThan(latestMs + 0.1);
});
