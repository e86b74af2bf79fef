import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { FakeApi } from './fakes.js';
import { Prices } from './prices.js';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';

let replicas: InMemoryReplicas;
beforeEach(() => {
  replicas = new InMemoryReplicas('2027-01-01T00:00:00Z');
});
afterEach(() => replicas.end());

/** The first one leads. */
async function start(name: string) {
  const replica = replicas.start(name, [new Prices(new FakeApi(300, replicas.clock))]);
  await replicas.clock.advance(0);
  return replica;
}

it('hands over after the run when the leader stops', async () => {
  const [a, b] = [await start('a'), await start('b')];
  await replicas.clock.advance(2_100);
  const stopped = a.stop(); // not awaited here: the clock must advance first
  await replicas.clock.advance(2_000);
  await stopped;
  expect(a.eventLines.slice(-2)).toEqual(['2300 runSucceeded schedule', '2300 leadershipReleased shutdown']);
  expect(b.eventLines).toEqual(['0 leaderChanged a', '2300 leadershipGained', '4000 runStarted schedule']);
});

it('has a new leader when the lease of a killed leader ends', async () => {
  const [a] = [await start('a'), await start('b')];
  await replicas.clock.advance(2_500); // the last heartbeat was at 0
  a.kill();
  await replicas.clock.advance(7_000);
  expect(replicas.leaderOf('price-tick')).toBe('a');
  await replicas.clock.advance(1_000);
  expect(replicas.leaderOf('price-tick')).toBe('b');
});
