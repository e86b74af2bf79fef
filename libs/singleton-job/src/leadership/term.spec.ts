import { describe, expect, it } from '@jest/globals';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type Term } from './term.js';

function termOf({ pool }: TestReplica): Term {
  const term = pool.find('tick')?.active?.election.term;
  if (term === undefined) throw new Error('this replica does not lead');
  return term;
}

describe('The lease of a term', () => {
  const replicas = useReplicas();

  it('has the deadline of the session if that of the lock is later', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(4_000);
    // the heartbeat at 3 s, and the first renewal at 0 s
    expect(termOf(a).deadline.now).toBe(3_000 + 9_000);
  });

  it('has the deadline of the lock if that of the session is later', async () => {
    const a = replicas.start('a', [job({ lockExpiryMs: 3_600_000 })]);
    await replicas.clock.advance(500);
    a.store.outcome = (request) => (request === 'renew' ? 'STORE_UNREACHABLE' : 'answered');
    await replicas.clock.advance(60_000);
    expect(termOf(a).deadline.now).toBe(0.9 * (3_600_000 + 20_000));
  });

  it('ends when the lock is not confirmed in time, although the session continues', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    a.store.outcome = (request) => (request === 'renew' ? 'STORE_UNREACHABLE' : 'answered');
    await replicas.clock.advance(40_000);
    // nine tenths of 35 s
    expect(a.observer.eventLines.filter((line) => line.includes('leadership')).slice(0, 3)).toEqual([
      '0 leadershipGained',
      '31500 leadershipLost expired',
      '31500 leadershipGained',
    ]);
  });

  it('is not valid, but not over, while only the wall clock is past its deadline', async () => {
    const a = replicas.start('a', [job({ schedule: interval(3_600_000), run: lasting(replicas.clock, 60_000) })]);
    await replicas.clock.advance(4_000);
    a.clock.aheadMs += 20_000;
    const term = termOf(a);
    expect([term.isValid(), term.isOver()]).toEqual([false, false]);
    await replicas.clock.advance(6_000);
    expect(term.isValid()).toBe(true);
  });

  it('is confirmed with one heartbeat and one renewal for any number of ticks', async () => {
    const a = replicas.start('a', [job({ schedule: fixedRate(50, { offsetMs: 0 }) })], { network: { delayMs: 1_000 } });
    await replicas.clock.advance(13_500);
    expect(termOf(a).isValid()).toBe(true);
    a.clock.aheadMs += 20_000;
    const before = [a.store.count('heartbeat'), a.store.count('renew')];
    // the next heartbeat is due at 15 s
    await replicas.clock.advance(1_000);
    const sent = [a.store.count('heartbeat'), a.store.count('renew')].map(
      (count, index) => count - (before[index] ?? 0),
    );
    expect(sent).toEqual([1, 1]);
    await replicas.clock.advance(1_000);
    expect(termOf(a).isValid()).toBe(true);
  });
});
