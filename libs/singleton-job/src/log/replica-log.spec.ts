import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/while-leader.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

describe('The log of a replica is told', () => {
  const replicas = useReplicas();
  const once = interval(3_600_000);

  it('once when a pause was lost with the data of the store, and not after a resume', async () => {
    const a = replicas.start('a', [job({ schedule: once })]);
    await replicas.clock.advance(10);
    await a.registry.pause('tick');
    await replicas.clock.advance(10);
    await Promise.all([a.registry.resume('tick'), replicas.clock.advance(60_000)]);
    await a.registry.pause('tick');
    await replicas.clock.advance(10_000);
    replicas.server.loseData();
    await replicas.clock.advance(300_000);
    expect(a.observer.of('jobResumed').map(({ reason }) => reason)).toEqual(['resumed', 'data-lost']);
  });

  it('a second after the start of a stop for which runs it waits', async () => {
    const run = lasting(replicas.clock, 5_000);
    const a = replicas.start('a', [
      job({ name: 'idle', schedule: once }),
      job({ name: 'busy', schedule: once, run }),
      // its signal fires at once
      job({ name: 'feed', schedule: whileLeader(1_000), run: lasting(replicas.clock, 60_000, { obedient: true }) }),
      job({ name: 'stubborn', schedule: whileLeader(1_000), run }),
    ]);
    await replicas.clock.advance(3_200);
    await Promise.all([a.pool.stop(), replicas.clock.advance(5_000)]);
    expect(a.observer.of('shutdownDelayed').map(({ job, abortInMs }) => [job, abortInMs])).toEqual([
      ['busy', 5_000],
      ['stubborn', 0],
    ]);
  });
});
