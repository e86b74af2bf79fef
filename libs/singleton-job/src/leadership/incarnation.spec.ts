import { describe, expect, it } from '@jest/globals';
import { useCoreReplicas } from '../../../../test/support/core-replicas.js';
import { onWrite } from '../../../../test/support/faulty-store.js';

const world = useCoreReplicas();

describe('a term', () => {
  it.each([
    ['restarts without data', 'restart'],
    ['loses all data', 'loseData'],
    ['loses the leases', 'loseLeases'],
  ] as const)('goes on when the store %s', async (_rule, fault) => {
    const [a] = await world.leaderAndFollower();
    world.server[fault]();
    await world.clock.advance(30_000);
    expect([world.story, a.job.term.isValid()]).toEqual([[], true]);
    expect(world.record()).toMatchObject({ holder: a.job.term.holder, fencingToken: a.job.term.fencingToken });
  });

  it('is over when the job was paused before its record is written again', async () => {
    const [a, b] = await world.leaderAndFollower();
    const snapshot = world.server.snapshot();
    void a.job.term.save({ lastScheduledAt: 1 });
    await world.clock.advance(0);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    world.server.restart(snapshot);
    world.server.jump(-60_000);
    await world.clock.advance(3_000);
    void b.job.pause();
    a.store.outcome = () => 'answered';
    await world.clock.advance(1_000);
    expect(world.story).toEqual(['3250 a released job: paused']);
  });

  it('goes on without the pause of before, when the store restarts again before its record is written', async () => {
    const a = await world.leader();
    void a.job.pause();
    await world.clock.advance(100);
    const paused = world.server.snapshot();
    void a.job.resume();
    await world.clock.advance(100);
    a.store.outcome = onWrite('STORE_UNREACHABLE');
    for (const snapshot of [paused, paused]) {
      world.server.restart(snapshot);
      a.replica.context.syncNow();
      await world.clock.advance(100);
    }
    a.store.outcome = () => 'answered';
    await world.clock.advance(5_000);
    expect(world.story).toEqual(['10 a released job: paused', '110 a gained job: released']);
    expect(world.record()).toMatchObject({ holder: a.job.term.holder });
  });

  it('is over at its deadline, if its record could not be written again', async () => {
    const [a] = await world.leaderAndFollower();
    a.replica.context.syncNow();
    a.store.script.compareAndSet = () => new Promise(() => undefined);
    await world.clock.advance(0);
    world.server.restart();
    await world.clock.advance(5_000);
    // a pass while the write is open
    a.job.election.enqueue();
    await world.clock.advance(10_000);
    expect(world.story).toEqual(['9100 a lost job: expired', '13010 b gained job: free']);
  });

  it('is over in another incarnation, if its deadline has passed by the wall clock', async () => {
    await world.leader();
    world.server.restart();
    world.clock.stepWall(60_000);
    await world.clock.advance(3_000);
    expect(world.story).toEqual(['3000 a lost job: expired']);
  });

  it('is over when another take got the revision of its own, which a store lost that hides it', async () => {
    const a = await world.leader();
    // the revisions are ahead of its clock, so each is the next one
    world.server.jump(-60_000);
    await a.job.election.withdraw('unregistered');
    const before = world.server.snapshot();
    a.job.election.compete();
    const b = world.add('b');
    b.compete('job');
    await world.clock.advance(100);
    world.server.loseData(before);
    b.replica.context.syncNow();
    await world.clock.advance(100);
    expect(world.story.slice(2)).toEqual(['110 b gained job: released', '110 a lost job: preempted']);
  });

  it('is over when its record is deleted, and the job is led again', async () => {
    const [a] = await world.leaderAndFollower();
    world.server.jump(-60_000);
    world.server.loseRecord('job:job');
    await world.clock.advance(3_000);
    expect(world.story).toEqual(['3000 a lost job: preempted', '3000 a gained job: first']);
    expect(a.job.terms[1]?.fencingToken).toBeGreaterThan(a.job.terms[0]?.fencingToken ?? Infinity);
  });

  it('is released when its record can be read again, also where the job is not wanted any more', async () => {
    const [a, b] = await world.leaderAndFollower();
    world.server.corrupt('job:job');
    void a.job.election.withdraw('unregistered');
    await world.clock.advance(20_000);
    world.server.repair('job:job');
    await world.clock.advance(20_000);
    expect([a.job.term.end, b.job.term.isValid()]).toEqual(['released', true]);
  });

  it('is over when its record cannot be read, which concerns no other job', async () => {
    const [a] = await world.leaderAndFollower();
    const other = a.compete('other');
    world.server.corrupt('job:job');
    await world.clock.advance(30_000);
    expect(world.story.slice(1)).toEqual(['3000 a lost job: preempted']);
    expect([other.term.isValid(), a.store.writes.length]).toEqual([true, 2]);
  });
});

describe('a follower', () => {
  it('waits for the longest TTL among the holders that it has met', async () => {
    const a = world.add('a');
    a.compete('job', 'job', 30_000);
    await world.clock.advance(100);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    world.server.loseLeases();
    world.add('b').compete('job');
    await world.clock.advance(40_000);
    expect(world.story.at(-1)).toBe('30100 b gained job: lease-ended');
  });

  it('waits also when data of before come back, in which no replica leads', async () => {
    const a = await world.leader();
    await a.job.election.withdraw('unregistered');
    const before = world.server.snapshot();
    a.job.election.compete();
    world.add('b').compete('job');
    await world.clock.advance(100);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    world.server.loseData();
    await world.clock.advance(3_000);
    world.server.loseData(before);
    await world.clock.advance(20_000);
    expect(world.story.slice(2)).toEqual(['9010 a lost job: expired', '16010 b gained job: released']);
  });

  it('waits for no leader that has released the job since', async () => {
    const [a] = await world.leaderAndFollower();
    world.server.restart(world.server.snapshot());
    await world.clock.advance(4_000);
    await a.replica.close();
    await world.clock.advance(0);
    expect(world.story).toEqual(['4100 a released job: shutdown', '4100 b gained job: released']);
  });
});

describe('a record of an older incarnation', () => {
  it('is not taken for the one of now that has its revision', async () => {
    const [a] = await world.leaderAndFollower();
    const snapshot = world.server.snapshot();
    void a.job.term.save({ lastScheduledAt: 1 });
    await world.clock.advance(0);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    world.server.restart(snapshot);
    // the take of the other one, at 13,010, gets the revision of the save at 100
    world.server.jump(-12_910);
    await world.clock.advance(13_000);
    a.store.outcome = () => 'answered';
    await world.clock.advance(20_000);
    expect(world.story).toEqual(['9000 a lost job: expired', '13010 b gained job: lease-ended']);
  });

  it('of a leader that has forgotten its term is one that it did not release', async () => {
    const a = await world.leader();
    void a.job.election.withdraw('unregistered');
    world.server.restart(world.server.snapshot());
    await world.clock.advance(5_000);
    expect(a.replica.find('job:job')).toBeUndefined();
    const again = a.compete('job');
    await world.clock.advance(20_000);
    expect(again.term.predecessor.lostLeader).toBe('a');
  });
});

describe('an orphan', () => {
  it('left by a take that arrives late is released, also where the job is not wanted any more', async () => {
    const a = world.add('a');
    const job = a.compete('job');
    for (let other = 0; other < 8; other++) a.compete(`other-${other}`);
    a.store.scriptWrite((carryOut) => {
      world.clock.setTimer(4_000, () => void carryOut());
      void job.election.withdraw('unregistered');
      return Promise.reject(new Error('lost'));
    });
    await world.clock.advance(4_000);
    expect([job.terms, world.record()?.holder]).toEqual([[], 'a.1@10000#1']);
    await world.clock.advance(2_000);
    expect(world.record()?.holder).toBeUndefined();
  });

  it('is released when its run has ended', async () => {
    const [a] = await world.leaderAndFollower();
    const before = world.server.snapshot();
    a.job.election.stepDown('rebalance', 60_000);
    await world.clock.advance(100);
    const endRun = a.job.run();
    world.server.loseData(before);
    await world.clock.advance(10_000);
    expect(world.record()?.holder).toBe('a.1@10000#1');
    const run = { startedAt: 1, endedAt: 2, by: 'a' };
    a.job.term.set({ run });
    endRun();
    await world.clock.advance(0);
    expect(world.story.slice(2)).toEqual(['3010 b lost job: preempted', '10200 b gained job: released']);
    expect(world.record()?.run).toEqual(run);
  });

  it('is not released in data of before, while a later leader may still lead', async () => {
    const [a, b] = await world.leaderAndFollower();
    const c = world.add('c', { random: 0.9 });
    c.compete('job');
    await world.clock.advance(900);
    const before = world.server.snapshot();
    world.server.loseData();
    await world.clock.advance(3_000);
    a.job.election.stepDown('rebalance', 60_000);
    await world.clock.advance(100);
    b.store.outcome = () => 'STORE_UNREACHABLE';
    world.server.loseData(before);
    c.replica.context.syncNow();
    await world.clock.advance(20_000);
    expect(world.story.at(2)).toBe('13000 b lost job: expired');
  });
});
