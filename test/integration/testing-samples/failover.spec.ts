import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';
import { FakeTable, SlowFeed } from './fakes.js';
import { Prices } from './prices.js';

let replicas: InMemoryReplicas;
let table: FakeTable;
beforeEach(() => {
  replicas = new InMemoryReplicas();
  table = new FakeTable();
});
afterEach(() => replicas.end());

const start = async (name: string) => {
  const replica = replicas.start(name, [new Prices(new SlowFeed(replicas.clock, 300), table)]);
  await replicas.clock.advance(0);
  return replica;
};

it('hands over after the run when the leader stops', async () => {
  const [a, b] = [await start('a'), await start('b')];
  await replicas.clock.advance(1_100);
  const stopped = a.stop();
  await replicas.clock.advance(1_000);
  await stopped;
  expect(a.story.slice(-2)).toEqual(['1300 runSucceeded schedule', '1300 leadershipReleased shutdown']);
  expect(b.story).toEqual(['1300 leadershipGained', '2000 runStarted schedule']);
});

it('has a new leader 10 s after a kill', async () => {
  const [a] = [await start('a'), await start('b')];
  await replicas.clock.advance(1_500);
  a.kill();
  await replicas.clock.advance(8_000);
  expect(replicas.leaderOf('price-tick')).toBe('a');
  await replicas.clock.advance(2_000);
  expect(replicas.leaderOf('price-tick')).toBe('b');
});

it('loses its leader before another one leads when the leader cannot reach Redis', async () => {
  const [a, b] = [await start('a'), await start('b')];
  a.partition();
  await replicas.clock.advance(12_000);
  const [lost] = a.observer.of('leadershipLost');
  const [gained] = b.observer.of('leadershipGained');
  expect(lost?.reason).toBe('expired');
  expect(gained?.fencingToken).toBeGreaterThan(lost?.fencingToken ?? Infinity);
});
