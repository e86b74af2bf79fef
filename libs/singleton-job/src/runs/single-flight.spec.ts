import { describe, expect, it } from '@jest/globals';
import { TestReplicas } from '../../../../test/support/test-replicas.js';
import { job } from '../../../../test/support/job.js';

describe('A run', () => {
  it('cannot change the payloads of observers', async () => {
    const replicas = new TestReplicas();
    const a = replicas.start('a', [
      job({
        run: ({ scheduledAt, startedAt }) => {
          scheduledAt.setTime(0);
          startedAt.setTime(0);
        },
      }),
    ]);
    await replicas.clock.advance(1_500);

    const [started] = a.observer.of('runStarted');
    const [succeeded] = a.observer.of('runSucceeded');
    expect(started?.scheduledAt.getTime()).toBe(succeeded?.scheduledAt.getTime());
    expect([started?.scheduledAt.getTime(), started?.startedAt.getTime()]).not.toContain(0);
    await replicas.end();
    expect(replicas.clock.pendingTimers).toBe(0);
  });

  it('that ends because assertLeader() throws is cancelled, also before its signal fires', async () => {
    const replicas = new TestReplicas();
    const a = replicas.start('a', [
      job({
        run: (run) => {
          void replicas.clock.block(9_000);
          run.assertLeader();
        },
      }),
    ]);
    await replicas.clock.advance(1_500);
    expect(a.observer.of('runFailed')).toEqual([]);
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST' }]);
    await replicas.end();
    expect(replicas.clock.pendingTimers).toBe(0);
  });
});
