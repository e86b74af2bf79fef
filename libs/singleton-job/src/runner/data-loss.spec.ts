import { describe, expect, it } from '@jest/globals';
import { type FleetReplica, job } from '../../../../test/support/fleet.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { cron } from '../schedule/index.js';

const everyMinute = (overrides: Parameters<typeof job>[0] = {}) =>
  job({ schedule: cron('* * * * *', { timeZone: 'UTC', jobName: 'tick' }), ...overrides });

const yearly = () => everyMinute({ schedule: cron('0 0 1 1 *', { timeZone: 'UTC', jobName: 'tick' }) });

const startsOf = ({ observer }: FleetReplica): number[] =>
  observer.events.filter(({ event }) => event === 'runStarted').map(({ atMs }) => atMs);
const missedOf = ({ observer }: FleetReplica): string[] =>
  observer
    .of('occurrencesMissed')
    .map(({ reason, from, to, count }) => `${reason} (${clockOf(from)}, ${clockOf(to)}] ${count}`);
const clockOf = (date: Date) => date.toISOString().slice(11, 19);

describe('When Redis loses its data', () => {
  const fleet = useFleet();

  /** Two replicas of which the first leads; the second knows it and asks at every heartbeat. */
  async function leaderAndFollower(of = job, follower = of()): Promise<readonly [FleetReplica, FleetReplica]> {
    const a = fleet.start('a', [of()]);
    await fleet.clock.advance(500);
    const b = fleet.start('b', [follower]);
    b.store.deafen();
    await fleet.clock.advance(2_000);
    return [a, b];
  }

  it('a follower that takes over starts nothing while the leader, cut off, still trusts its lease', async () => {
    const [a, b] = await leaderAndFollower();
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(30_000);
    const gainedMs = b.observer.events.find(({ event }) => event === 'leadershipGained')?.atMs ?? NaN;
    const lastOfA = startsOf(a).at(-1) ?? NaN;
    // without the wait both would have run for seconds
    expect(lastOfA).toBeGreaterThan(gainedMs + 1_000);
    expect(startsOf(b)[0]).toBeGreaterThanOrEqual(gainedMs + 10_000);
    expect(startsOf(b)[0]).toBeLessThan(gainedMs + 11_100);
    expect(b.observer.of('leadershipGained')).toEqual([expect.objectContaining({ waitMs: 10_000 })]);
    const [tokenOfA = NaN] = a.observer.of('leadershipGained').map(({ fencingToken }) => fencingToken);
    expect(b.observer.of('leadershipGained')[0]?.fencingToken).toBeGreaterThan(tokenOfA);
  });

  it('it waits for the longest lock that it has seen, and not only for its own', async () => {
    const slow = (overrides: Parameters<typeof job>[0] = {}) => job({ lockExpiryMs: 25_000, ...overrides });
    const [a, b] = await leaderAndFollower(slow, job());
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(40_000);
    expect(startsOf(b)[0]).toBeGreaterThan(startsOf(a).at(-1) ?? NaN);
    expect(b.observer.of('leadershipGained')[0]?.waitMs).toBeGreaterThan(20_000);
  });

  it('it waits also if an older state comes back, from a backup, in place of the one that the leader, cut off, leads under', async () => {
    const [a, b] = await leaderAndFollower();
    await fleet.clock.advance(20_000);
    await Promise.all([a, b].map(({ supervisor }) => supervisor.pause('tick')).concat(fleet.clock.advance(1_000)));
    const restore = fleet.server.remember();
    fleet.server.loseData();
    a.supervisor.resume('tick');
    await fleet.clock.advance(5_000);
    b.supervisor.resume('tick');
    await fleet.clock.advance(20_000);
    a.store.fate = () => 'lost';
    restore();
    await fleet.clock.advance(30_000);
    expect(startsOf(b)[0]).toBeGreaterThan(startsOf(a).at(-1) ?? NaN);
    expect(b.observer.of('leadershipGained')).toEqual([expect.objectContaining({ waitMs: 10_000 })]);
  });

  it('the leader goes on at once when it gets its lock back before its lease has ended', async () => {
    await fleet.clock.advance(300);
    const a = fleet.start('a', [job()]);
    await fleet.clock.advance(2_500);
    fleet.server.loseData();
    await fleet.clock.advance(10_000);
    expect(a.news()).toContain('3300 leadershipLost preempted');
    expect(a.observer.of('leadershipGained').map(({ waitMs }) => waitMs)).toEqual([undefined, undefined]);
    const gaps = startsOf(a).map((startMs, index, all) => startMs - (all[index - 1] ?? startMs));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1_000);
  });

  it('one replica waits, and not each next leader, while the clock of Redis is behind the beginning of the new state', async () => {
    const [a, b] = await leaderAndFollower();
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(4_000);
    fleet.clock.stepWall(-3_600_000);
    a.store.fate = () => 'carried';
    await fleet.clock.advance(20_000);
    for (const leader of [b, a, b]) {
      expect(fleet.server.holderOf('tick')).toMatch(new RegExp(`^${leader.name}#`));
      await Promise.all([leader.supervisor.pause('tick'), fleet.clock.advance(4_000)]);
      leader.supervisor.resume('tick');
      await fleet.clock.advance(20_000);
    }
    const waits = [a, b].flatMap(({ observer }) => observer.of('leadershipGained').map(({ waitMs }) => waitMs ?? 0));
    expect(waits.filter((waitMs) => waitMs > 0)).toEqual([10_000]);
  });

  it('the leader waits as everybody else if it had seen another lead beside its lease', async () => {
    const [a, b] = await leaderAndFollower();
    await fleet.clock.advance(700);
    fleet.server.free('tick');
    await fleet.clock.advance(3_000);
    expect(a.news()).toContain('6000 leadershipLost preempted');
    a.store.deafen();
    b.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(30_000);
    const gainedMs = a.observer.events.findLast(({ event }) => event === 'leadershipGained')?.atMs ?? NaN;
    const [nextOfA] = startsOf(a).filter((startMs) => startMs > gainedMs);
    // the lease that it had lost would have lasted longer
    expect(gainedMs).toBeLessThan(12_000);
    expect(startsOf(b).at(-1)).toBeGreaterThan(gainedMs + 1_000);
    expect(nextOfA).toBeGreaterThanOrEqual(gainedMs + 10_000);
  });

  it('a stop ends the wait at once and gives the lock back', async () => {
    const [a, b] = await leaderAndFollower();
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(4_000);
    expect(b.observer.of('leadershipGained')).toHaveLength(1);
    const stopped = b.supervisor.stop();
    await fleet.clock.advance(10);
    await stopped;
    expect(fleet.server.holderOf('tick')).toBeUndefined();
    expect(startsOf(b)).toEqual([]);
  });

  it('occurrences that came due around it are reported once, and none of them is started', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    await fleet.clock.advance(52_000);
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(120_000);
    // the one of 00:01 came due while the new leader waited
    expect(startsOf(a)).toEqual([]);
    expect(missedOf(b)).toEqual([expect.stringMatching(/^state-lost \(00:00:5\d, 00:01:00\] 1$/)]);
    expect(b.observer.of('runStarted').map(({ scheduledAt }) => clockOf(scheduledAt))).toEqual(['00:02:00']);
  });

  it('a claim that did not lead to a run is reported although Redis forgot it', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    await fleet.clock.advance(57_400);
    // the claim is carried out, and its leader dies before it hears
    a.store.fate = (command) => (command === 'claim' ? 'unanswered' : 'lost');
    await fleet.clock.advance(5_000);
    for (const { store } of [a, b]) store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(20_000);
    b.store.fate = () => 'carried';
    await fleet.clock.advance(30_000);
    expect(startsOf(a)).toEqual([]);
    expect(missedOf(b)).toEqual([expect.stringMatching(/^state-lost \(00:00:00, 00:01:\d\d\] 1$/)]);
  });

  it('they are reported also if the first who was granted the lock never learns of it', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    const c = fleet.start('c', [everyMinute()]);
    c.store.deafen();
    await fleet.clock.advance(50_000);
    for (const { store } of [a, b, c]) store.fate = () => 'lost';
    await fleet.clock.advance(20_000);
    fleet.server.loseData();
    c.store.fate = () => 'unanswered';
    await fleet.clock.advance(10_000);
    expect(fleet.server.holderOf('tick')).toMatch(/^c/);
    c.store.fate = () => 'lost';
    b.store.fate = () => 'carried';
    await fleet.clock.advance(60_000);
    expect(missedOf(b)).toEqual([expect.stringMatching(/^state-lost \(00:00:00, 00:01:\d\d\] 1$/)]);
  });

  it('occurrences that came due in the wait are not started either if the leader dies in it', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    const c = fleet.start('c', [everyMinute()]);
    c.store.deafen();
    await fleet.clock.advance(48_000);
    a.store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(1_000);
    const second = fleet.server.holderOf('tick')?.startsWith('b') === true ? b : c;
    await fleet.clock.advance(8_500);
    second.store.fate = () => 'lost';
    await fleet.clock.advance(100_000);
    const third = second === b ? c : b;
    expect(third.observer.of('leadershipGained')).toEqual([expect.not.objectContaining({ waitMs: expect.anything() })]);
    expect(missedOf(third)).toEqual([expect.stringMatching(/^state-lost \(00:00:5\d, 00:01:00\] 1$/)]);
    expect(third.observer.of('runStarted').map(({ scheduledAt }) => clockOf(scheduledAt))).toEqual(['00:02:00']);
  });

  it('together with a change of the schedule, what the old one had is reported as left behind, if only with a count of 0', async () => {
    const [a, b] = await leaderAndFollower(everyMinute, yearly());
    await fleet.clock.advance(57_400);
    a.store.fate = (command) => (command === 'claim' ? 'unanswered' : 'lost');
    await fleet.clock.advance(5_000);
    for (const { store } of [a, b]) store.fate = () => 'lost';
    fleet.server.loseData();
    await fleet.clock.advance(20_000);
    b.store.fate = () => 'carried';
    await fleet.clock.advance(30_000);
    expect(startsOf(a)).toEqual([]);
    expect(missedOf(b)).toEqual([expect.stringMatching(/^schedule-changed \(00:00:00, 00:01:\d\d\] 0$/)]);
  });

  it('so is it if the first who was granted the lock knew the old schedule only, and never learned of its grant', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    await fleet.clock.advance(57_400);
    for (const { store } of [a, b]) store.fate = () => 'lost';
    await fleet.clock.advance(20_000);
    fleet.server.loseData();
    b.store.fate = () => 'unanswered';
    await fleet.clock.advance(5_000);
    expect(fleet.server.holderOf('tick')).toMatch(/^b/);
    b.store.fate = () => 'lost';
    const c = fleet.start('c', [yearly()]);
    await fleet.clock.advance(60_000);
    expect(missedOf(c)).toEqual([expect.stringMatching(/^schedule-changed \(00:00:00, 00:01:\d\d\] 0$/)]);
  });

  it('a claim that a failover lost stands if somebody who knows of it asks before another takes the lead, be it in vain', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    const c = fleet.start('c', [everyMinute()]);
    await fleet.clock.advance(57_000);
    const fallBack = fleet.server.remember();
    await fleet.clock.advance(700);
    // b sees the claim
    b.store.reconnect();
    await fleet.clock.advance(100);
    a.store.fate = () => 'lost';
    fallBack();
    b.store.reconnect();
    await fleet.clock.advance(100);
    b.store.fate = () => 'lost';
    await fleet.clock.advance(20_000);
    expect(c.observer.of('leadershipGained')).toHaveLength(1);
    const started = [a, b, c].flatMap(({ observer }) => observer.of('runStarted'));
    expect(started.map(({ scheduledAt }) => clockOf(scheduledAt))).toEqual(['00:01:00']);
    expect(missedOf(b)).toEqual([]);
  });

  it('what was due while nobody could lead is reported, up to where the new state begins', async () => {
    const [a, b] = await leaderAndFollower(everyMinute);
    for (const { store } of [a, b]) store.fate = () => 'STORE_UNREACHABLE';
    await fleet.clock.advance(150_000);
    fleet.server.loseData();
    for (const { store } of [a, b]) store.fate = () => 'carried';
    await fleet.clock.advance(60_000);
    const reported = [...missedOf(a), ...missedOf(b)];
    expect(reported).toEqual([expect.stringMatching(/^state-lost \(00:00:0\d, 00:02:3\d\] 2$/)]);
    const started = [a, b].flatMap(({ observer }) => observer.of('runStarted'));
    expect(started.map(({ scheduledAt }) => clockOf(scheduledAt))).toEqual(['00:03:00']);
  });
});
