import { expect, it } from '@jest/globals';
import { FakeRun } from 'nestjs-singleton-job/testing';
import { FakeTable } from './fakes.js';
import { Prices } from './prices.js';

it('writes the price with its fencing token', async () => {
  const table = new FakeTable();
  const prices = new Prices({ pull: async () => 101.5 }, table);
  await prices.tick(new FakeRun({ fencingToken: 7 }));
  expect(table.rows).toEqual(['101.5 by 7']);
});
