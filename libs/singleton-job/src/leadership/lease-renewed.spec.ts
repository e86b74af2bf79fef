import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/fleet.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { LoggingObserver } from '../events/index.js';
import { cron } from '../schedule/index.js';

describe('A heartbeat', () => {
  const fleet = useFleet();
  const idle = (): ReturnType<typeof job> => job({ schedule: cron('0 3 * * *') });

  it('tells of each confirmation how long it took, and how far apart the clocks are', async () => {
    const a = fleet.start('a', [idle()], { network: { delayMs: 40 } });
    await fleet.clock.advance(1_000);
    a.clock.aheadMs = -500;
    await fleet.clock.advance(6_000);
    const [first, second] = a.observer.of('leaseRenewed');
    const [gained] = a.observer.of('leadershipGained');
    // the store reads its clock when it is asked, which is half a round trip before the middle of the two sights of ours
    expect(first).toEqual({
      job: 'tick',
      fencingToken: gained?.fencingToken,
      roundTripMs: 40,
      clockOffsetMs: 480,
    });
    expect(second).toEqual(first);
    expect(a.observer.of('leaseRenewed')).toHaveLength(2);
  });

  it('tells nothing where it is not answered before the end of the term', async () => {
    const a = fleet.start('a', [idle()]);
    await fleet.clock.advance(1_000);
    a.store.fate = () => 'lost';
    await fleet.clock.advance(20_000);
    expect(a.observer.of('leadershipLost')).toHaveLength(1);
    expect(a.observer.of('leaseRenewed')).toEqual([]);
  });

  it('is no line in the log', () => {
    expect(new LoggingObserver({ projectName: 'p', node: 'n' })).not.toHaveProperty('leaseRenewed');
  });
});
