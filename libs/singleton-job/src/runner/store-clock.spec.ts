import { describe, expect, it } from '@jest/globals';
import { type FleetReplica, job } from '../../../../test/support/fleet.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { type JobDefinition } from '../discovery/index.js';
import { cron } from '../schedule/index.js';

const HOUR_MS = 3_600_000;
const HEARTBEAT_MS = 3_000;

const everyMinute = (): JobDefinition =>
  job({ name: 'report', schedule: cron('* * * * *', { timeZone: 'UTC', jobName: 'report' }) });

const clockOf = (date: Date): string => date.toISOString().slice(11, 16);
const startsOf = (...replicas: FleetReplica[]): string[] =>
  replicas.flatMap(({ observer }) => observer.of('runStarted').map(({ scheduledAt }) => clockOf(scheduledAt))).sort();
const missedOf = (...replicas: FleetReplica[]): string[] =>
  replicas.flatMap(({ observer }) =>
    observer.of('occurrencesMissed').map(({ from, to, count }) => `(${clockOf(from)}, ${clockOf(to)}] ${count}`),
  );
const gainsOf = ({ observer }: FleetReplica) => observer.of('leadershipGained').map(({ fencingToken }) => fencingToken);

describe('When the clock of Redis is stepped', () => {
  const fleet = useFleet();

  /** A leader and a follower, whose own clocks go on as if nothing had happened. */
  async function stepped(byMs: number): Promise<readonly [FleetReplica, FleetReplica]> {
    const a = fleet.start('a', [everyMinute()]);
    await fleet.clock.advance(100);
    const b = fleet.start('b', [everyMinute()]);
    await fleet.clock.advance(80_000);
    fleet.clock.stepWall(byMs);
    for (const { clock } of [a, b]) clock.aheadMs = -byMs;
    return [a, b];
  }

  it('ahead, sessions end: the leader learns it from its next heartbeat, and the next one has a larger token', async () => {
    const [a, b] = await stepped(HOUR_MS);
    await fleet.clock.advance(HEARTBEAT_MS + 100);
    expect(a.observer.of('leadershipLost')).toEqual([expect.objectContaining({ reason: 'expired' })]);
    const [before = NaN, after = NaN] = [...gainsOf(a), ...gainsOf(b)].sort((one, other) => one - other);
    expect(after).toBeGreaterThanOrEqual(before + HOUR_MS);
  });

  it('ahead, the occurrences in between are reported once but for the newest, and none is started twice', async () => {
    const [a, b] = await stepped(HOUR_MS);
    await fleet.clock.advance(120_000);
    // 00:01 before, and from 01:01:20 on by the clock of Redis
    expect(startsOf(a, b)).toEqual(['00:01', '01:01', '01:02', '01:03']);
    expect(missedOf(a, b)).toEqual(['(00:01, 01:00] 59']);
  });

  it('ahead while the leader is cut off, two trust their leases until the first one ends, told apart by their tokens', async () => {
    const [a, b] = await stepped(HOUR_MS);
    a.store.fate = () => 'lost';
    await fleet.clock.advance(30_000);
    const gainedMs = b.observer.events.find(({ event }) => event === 'leadershipGained')?.atMs ?? NaN;
    const lostMs = a.observer.events.find(({ event }) => event === 'leadershipLost')?.atMs ?? NaN;
    expect(lostMs).toBeLessThan(gainedMs + 10_000);
    expect(gainsOf(b)[0]).toBeGreaterThan(gainsOf(a)[0] ?? NaN);
  });

  it('back, the leader leads on, no token goes back, and no occurrence is started twice', async () => {
    const [a, b] = await stepped(-HOUR_MS);
    await fleet.clock.advance(60_000);
    expect(a.observer.of('leadershipLost')).toEqual([]);
    await Promise.all([a.supervisor.stop(), fleet.clock.advance(HEARTBEAT_MS)]);
    expect(gainsOf(b)[0]).toBeGreaterThan(gainsOf(a)[0] ?? NaN);
    await fleet.clock.advance(HOUR_MS);
    const started = startsOf(a, b);
    expect(new Set(started).size).toBe(started.length);
  });
});
