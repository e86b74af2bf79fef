import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';
import { FakeApi } from './fakes.js';
import { Prices } from './prices.js';

let replicas: InMemoryReplicas;
beforeEach(() => {
  replicas = new InMemoryReplicas('2027-01-01T00:00:00Z');
});
afterEach(() => replicas.end());

it('drops a tick that is due during a slow run', async () => {
  const a = replicas.start('a', [new Prices(new FakeApi(3_000, replicas.clock))]);
  await replicas.clock.advance(6_000);
  expect(a.eventLines).toEqual([
    '0 leadershipGained',
    '2000 runStarted schedule',
    '4000 tickDropped overlap',
    '5000 runSucceeded schedule',
    '6000 runStarted schedule',
  ]);
});
