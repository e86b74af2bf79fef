import { describe, expect, it } from '@jest/globals';
import { Fleet, job } from '../../../../test/support/fleet.js';

describe('A run', () => {
  it('cannot change what observers are told of it', async () => {
    const fleet = new Fleet();
    const a = fleet.start('a', [
      job({
        run: ({ scheduledAt, startedAt }) => {
          scheduledAt.setTime(0);
          startedAt.setTime(0);
        },
      }),
    ]);
    await fleet.clock.advance(1_500);

    const [started] = a.observer.of('runStarted');
    const [succeeded] = a.observer.of('runSucceeded');
    expect(started?.scheduledAt.getTime()).toBe(succeeded?.scheduledAt.getTime());
    expect([started?.scheduledAt.getTime(), started?.startedAt.getTime()]).not.toContain(0);
    await fleet.end();
    expect(fleet.clock.pendingTimers).toBe(0);
  });
});
