import { describe, expect, it } from '@jest/globals';
import { useCoreReplicas } from '../../../../test/support/core-replicas.js';
import { onWrite } from '../../../../test/support/faulty-store.js';

const world = useCoreReplicas();

describe('the deadline of a leader', () => {
  it('passes when the event loop was blocked: the term is over, and the next one has a larger token', async () => {
    const a = await world.leader();
    await world.clock.block(8_900);
    expect([world.story, a.job.term.isValid()]).toEqual([[], true]);
    await world.clock.block(9_000);
    expect(world.story).toEqual(['17910 a lost job: expired', '17910 a gained job: lease-ended']);
    const [first, second] = a.job.terms.map(({ fencingToken }) => fencingToken);
    expect(second).toBeGreaterThan(first ?? Infinity);
  });

  it('counts from when the sync left, however late the answer is', async () => {
    const [a] = await world.leaderAndFollower();
    a.store.delayMs = 500;
    await world.clock.advance(3_500);
    expect(a.job.term.deadline.now).toBe(3_000 + 9_000);
  });

  it('has passed when the store has ended the lease', async () => {
    await world.leaderAndFollower();
    world.server.jump(60_000);
    await world.clock.advance(3_000);
    expect(world.story).toEqual(['3000 a lost job: expired', '3000 a gained job: lease-ended']);
  });

  it('is later where the heartbeat thread has kept the lease, in this incarnation', async () => {
    const reports = { takeReports: (): object[] => [], update: () => undefined };
    const a = await world.leader({ heartbeatThread: reports as never });
    const kept = {
      incarnation: a.replica.context.storeView.incarnation.id,
      id: 'a.1@10000',
      sent: { now: 8_000, wall: Infinity },
    };
    reports.takeReports = () => [kept];
    await world.clock.block(9_000);
    expect(a.job.term.isValid()).toBe(true);
    reports.takeReports = () => [{ ...kept, incarnation: 'another', sent: { now: 20_000, wall: Infinity } }];
    await world.clock.block(9_000);
    expect(world.story).toEqual(['18010 a lost job: expired', '18010 a gained job: lease-ended']);
  });

  it('has passed when the process ends: no run starts, also if it survives', async () => {
    const a = await world.leader();
    a.replica.expireAll();
    expect(a.job.term.isValid()).toBe(false);
    await world.clock.advance(0);
    expect(world.story).toEqual(['10 a lost job: expired', '10 a gained job: lease-ended']);
  });

  it('is not trusted when the wall clock was set ahead: no run starts before the store has answered', async () => {
    const [a] = await world.leaderAndFollower();
    world.clock.stepWall(60_000);
    world.server.jump(-60_000);
    expect(a.job.term.isValid()).toBe(false);
    await world.clock.advance(0);
    expect(a.job.term.isValid()).toBe(true);
    await world.clock.advance(20_000);
    expect(world.story).toEqual([]);
  });
});

describe('a replica that closes', () => {
  it('keeps the lease under which a run has not ended, and revokes the others', async () => {
    const a = await world.leader();
    const long = a.compete('long', 'job', 20_000);
    await world.clock.advance(0);
    long.run();
    void a.replica.close();
    await world.clock.advance(0);
    expect([...world.server.snapshot().leases.keys()]).toEqual(['a.2@20000']);
    expect(world.story.slice(1)).toEqual(['10 a released job: shutdown', '10 a released long: shutdown, during a run']);
    expect([world.record('long')?.holder, world.record('job')?.holder]).toEqual(['a.2@20000#2', undefined]);
  });

  it('revokes its lease, although a record is not released in time', async () => {
    const a = await world.leader();
    void a.job.pause();
    void a.replica.close();
    await world.clock.advance(0);
    expect([...world.server.snapshot().leases.keys()]).toEqual([]);
  });

  it('reports no run in flight where only its record is not known', async () => {
    const a = await world.leader();
    a.store.outcome = onWrite('STORE_UNREACHABLE');
    void a.job.term.save({ lastScheduledAt: 1 });
    a.store.script.sync = () => new Promise(() => undefined);
    await world.clock.advance(0);
    void a.replica.close();
    await world.clock.advance(0);
    expect(world.story).toEqual(['10 a released job: shutdown, not confirmed']);
  });

  it('waits half a second for a store that does not answer', async () => {
    const a = await world.leader();
    a.store.outcome = onWrite('request-lost');
    const closed = a.replica.close();
    const edit = a.job.resume();
    await world.clock.advance(500);
    await expect(Promise.all([closed, edit])).resolves.toEqual([undefined, false]);
    expect(world.story).toEqual(['510 a released job: shutdown, not confirmed']);
  });

  it('lets no caller wait that comes later', async () => {
    const a = await world.leader();
    await a.replica.close();
    const late = Promise.all([a.job.pause(), a.job.election.withdraw('unregistered')]);
    await expect(late).resolves.toEqual([false, undefined]);
  });
});
