import { expect, it } from '@jest/globals';
import { FakeApi } from './fakes.js';
import { Prices } from './prices.js';
import { FakeRun } from 'nestjs-singleton-job/testing';

it('saves the price with its fencing token', async () => {
  const api = new FakeApi();
  await new Prices(api).tick(new FakeRun({ fencingToken: 7 }));
  expect(api.saved).toEqual([[101.5, 7]]);
});

it('saves nothing after its signal has fired', async () => {
  const api = new FakeApi(5_000);
  const run = new FakeRun();
  const ticking = new Prices(api).tick(run);
  run.abort('SHUTDOWN');
  await expect(ticking).rejects.toMatchObject({ code: 'SHUTDOWN' });
  expect(api.saved).toEqual([]);
});
