import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { job, lasting } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

describe('The monitor', () => {
  const replicas = useReplicas();

  it('reports how long the event loop was blocked, and which jobs ran', async () => {
    const slow = job({ name: 'slow', schedule: interval(60_000), run: lasting(replicas.clock, 2_000) });
    const idle = job({ name: 'idle', schedule: interval(60_000) });
    const a = replicas.start('a', [slow, idle]);
    await replicas.clock.advance(1_500);
    await replicas.clock.block(5_000);
    const [blocked] = a.observer.of('eventLoopBlocked');
    expect(blocked?.jobs).toEqual(['slow']);
    expect(blocked?.blockedMs).toBeGreaterThanOrEqual(4_000);
    expect(blocked?.blockedMs).toBeLessThanOrEqual(5_000);
  });

  it('reports before the lease is lost, so that the log has the cause', async () => {
    const lost: string[] = [];
    const warn = (line: string): void => {
      if (line.includes('lost leadership')) lost.push(line);
    };
    const ignore = () => undefined;
    replicas.start('a', [job()], { log: { warn, error: ignore, log: ignore, debug: ignore } });
    await replicas.clock.advance(1_000);
    await replicas.clock.block(12_000);
    expect(lost).toEqual([expect.stringMatching(/in time, after the event loop was blocked for 1[12]\./)]);
  });

  it('does not report a block of less than a second', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(1_000);
    await replicas.clock.block(1_200);
    expect(a.observer.of('eventLoopBlocked')).toEqual([]);
  });
});
