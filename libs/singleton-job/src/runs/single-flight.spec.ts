import { expect, it } from '@jest/globals';
import { SingleFlight } from './single-flight.js';

it('The runs of a job keep one promise for all that wait for the end of a run', async () => {
  const runs = new SingleFlight({} as never);
  runs.reserve();
  const idle = runs.whenIdle();
  expect(runs.whenIdle()).toBe(idle);
  runs.free();
  await idle;
  runs.reserve();
  expect(runs.whenIdle()).not.toBe(idle);
});
