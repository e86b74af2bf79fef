import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { FixedRate, type JobRun } from 'nestjs-singleton-job';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';

@Injectable()
class Prices {
  private readonly logger = new Logger(Prices.name);

  @FixedRate('2s', { name: 'price-tick' })
  async tick(run: JobRun) {
    await run.sleep('100ms'); // your work; pass run.signal on
    this.logger.log(`updated the prices of ${run.scheduledAt.toISOString()}`);
  }
}

let replicas: InMemoryReplicas;
beforeEach(() => {
  replicas = new InMemoryReplicas('2027-01-01T00:00:00Z');
});
afterEach(() => replicas.end());

/** The first one leads. */
async function start(name: string) {
  const replica = replicas.start(name, [new Prices()]);
  await replicas.clock.advance(0);
  return replica;
}

it('hands over after the run when the leader stops', async () => {
  const [a, b] = [await start('a'), await start('b')];
  await replicas.clock.advance(2_050);
  const stopped = a.stop(); // not awaited here: the clock must advance first
  await replicas.clock.advance(2_000);
  await stopped;
  expect(a.eventLines.slice(-2)).toEqual(['2100 runSucceeded schedule', '2100 leadershipReleased shutdown']);
  expect(b.eventLines).toEqual(['0 leaderChanged a', '2100 leadershipGained', '4000 runStarted schedule']);
});

it('has a new leader when the lease of a killed leader ends', async () => {
  const [a] = [await start('a'), await start('b')];
  await replicas.clock.advance(2_050); // the last heartbeat was at 0
  a.kill(); // in its run
  await replicas.clock.advance(7_000);
  expect(replicas.leaderOf('price-tick')).toBe('a');
  await replicas.clock.advance(1_000);
  expect(replicas.leaderOf('price-tick')).toBe('b');
});
