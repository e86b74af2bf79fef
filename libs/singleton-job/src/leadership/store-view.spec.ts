import { describe, expect, it } from '@jest/globals';
import { instant } from '../base/time/clock.js';
import { ManualClock } from '../testing/manual-clock.js';
import { StoreView } from './store-view.js';

const INCARNATION = { id: 'memory/0', since: 0, isFirst: true };

/** A view after answers that came at once, with these leases. */
function viewOf(...answers: readonly (readonly string[])[]) {
  const clock = new ManualClock();
  const view = new StoreView('a', clock);
  for (const ids of answers) {
    const leases = new Map(ids.map((id) => [id, 1]));
    view.observe({ time: 5_000, incarnation: INCARNATION, leases, records: [] }, instant(clock));
  }
  return { clock, view };
}

describe('what a replica has seen', () => {
  it('has the longest TTL of all leases that it has met, and the replicas that are alive', () => {
    const { view } = viewOf(['a.1@10000', 'a.2@30000', 'c.1@800'], ['a.1@10000', 'a.3@800', 'b.1@10000']);
    expect([view.maxTtlMs, view.replicas]).toEqual([30_000, 2]);
  });

  it.each<[string, readonly number[], number, number]>([
    ['the time of the store now', [], 9_000, 9_000],
    ['the time of the store before', [], 3_000, 6_000],
    ['its time before its clock was set back', [2_000], 3_000, 6_000],
    ['not a time that is more than a day ahead', [86_500_000, 50_000], 40_000, 50_000],
  ])('has met other data at the latest time that it believes: %s', async (_time, before, time, metAt) => {
    const { clock, view } = viewOf([]);
    await clock.advance(1_000);
    const observe = (at: number, incarnation = INCARNATION): unknown =>
      view.observe({ time: at, incarnation, leases: new Map(), records: [] }, instant(clock));
    for (const at of before) observe(at);
    observe(time, { id: 'other', since: time, isFirst: false });
    expect(view.observedAt.storeTime).toBe(metAt);
  });

  it('has no lease of another program, which has no TTL', () => {
    const { view } = viewOf(['a.1@10000', 'backup']);
    expect([view.maxTtlMs, [...view.leases.keys()]]).toEqual([10_000, ['a.1@10000']]);
  });

  it('has a time of the store at most: by the clock that has gone further, as the host may have been suspended', () => {
    const { clock, view } = viewOf([]);
    clock.stepWall(6_000);
    expect([view.storeNow(), view.storeNowAtMost()]).toEqual([5_000, 11_000]);
    clock.stepWall(-60_000);
    expect(view.storeNowAtMost()).toBe(5_000);
  });
});
