import { expect, it } from '@jest/globals';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';
import { FakeTable, SlowFeed } from './fakes.js';
import { Prices } from './prices.js';

it('drops a tick that is due during a slow run', async () => {
  const replicas = new InMemoryReplicas('2027-01-01T00:00:00Z');
  const a = replicas.start('a', [new Prices(new SlowFeed(replicas.clock, 1_500), new FakeTable())]);
  await replicas.clock.advance(3_000);
  expect(a.story).toEqual([
    '0 leadershipGained',
    '1000 runStarted schedule',
    '2000 tickDropped overlap',
    '2500 runSucceeded schedule',
    '3000 runStarted schedule',
  ]);
  await replicas.end();
});
