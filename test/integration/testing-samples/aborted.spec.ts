import { expect, it } from '@jest/globals';
import { LeaseLostError } from 'nestjs-singleton-job';
import { FakeRun, ManualClock } from 'nestjs-singleton-job/testing';
import { FakeTable, SlowFeed } from './fakes.js';
import { Prices } from './prices.js';

it('stops when the application stops', async () => {
  const run = new FakeRun();
  const pulling = new Prices(new SlowFeed(new ManualClock(), 5_000), new FakeTable()).tick(run);
  run.abort('SHUTDOWN');
  await expect(pulling).rejects.toMatchObject({ code: 'SHUTDOWN' });
});

it('writes nothing after its lease was lost', async () => {
  const [run, table] = [new FakeRun(), new FakeTable()];
  const feed = {
    pull: async () => {
      run.loseLease();
      return 101.5;
    },
  };
  await expect(new Prices(feed, table).tick(run)).rejects.toThrow(LeaseLostError);
  expect(table.rows).toEqual([]);
});
