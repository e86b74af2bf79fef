import { describe, expect, it } from '@jest/globals';
import { useCoreReplicas } from '../../../../test/support/core-replicas.js';
import { type Election } from './election.js';
import { type Replica } from './replica.js';

const world = useCoreReplicas();

describe('a leader', () => {
  it('that stops is followed at the next heartbeat, if the message is lost', async () => {
    const [a, b] = await world.leaderAndFollower();
    for (let other = 0; other < 8; other++) b.compete(`other-${other}`);
    await world.clock.advance(3_000);
    b.store.losesMessages = true;
    await a.replica.close();
    await world.clock.advance(3_000);
    expect(world.story.slice(8)).toEqual(['3100 a released job: shutdown', '6010 b gained job: released']);
  });

  it('that is paused releases its job within 10 s, if the message is lost', async () => {
    const [a, b] = await world.leaderAndFollower();
    for (let other = 0; other < 8; other++) a.compete(`other-${other}`);
    await world.clock.advance(3_000);
    a.store.losesMessages = true;
    void b.job.pause();
    await world.clock.advance(10_000);
    expect(world.story.slice(8)).toEqual(['12000 a released job: paused']);
  });

  it('that is cut off stops leading before another takes over, when its lease has ended', async () => {
    const [a] = await world.leaderAndFollower();
    const { term } = a.job;
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await world.clock.advance(8_899);
    expect(term.end).toBeUndefined();
    await world.clock.advance(10_000);
    expect(term.end).toBe('expired');
    expect(world.story).toEqual(['9000 a lost job: expired', '10000 b gained job: lease-ended']);
  });

  it('that is asked to step down answers at once, does it when its run has ended, and stands back for 2 s', async () => {
    const [a, b] = await world.leaderAndFollower();
    const endRun = a.job.run();
    const answer = b.job.command('c1', 'step-down').then((outcome) => world.story.push(outcome ?? 'no answer'));
    await world.clock.advance(0);
    expect(world.story.splice(0)).toEqual(['stepped-down']);
    await world.clock.advance(1_000);
    await answer;
    endRun();
    await world.clock.advance(1_000);
    await b.replica.close();
    await world.clock.advance(2_000);
    expect(world.story).toEqual([
      '1100 a released job: stepped-down',
      '1100 b gained job: released',
      '2100 b released job: shutdown',
      '3100 a gained job: released',
    ]);
  });

  it('that withdraws releases its job when the run has ended', async () => {
    const [a, b] = await world.leaderAndFollower();
    const endRun = a.job.run();
    void a.job.election.withdraw('unregistered').then(() => world.story.push('withdrawn'));
    const answer = b.job.command('c1', 'trigger');
    await world.clock.advance(20_000);
    await expect(answer).resolves.toBe('releasing');
    expect(world.story).toEqual([]);
    endRun();
    await world.clock.advance(0);
    expect(world.story).toEqual(['20100 a released job: unregistered', 'withdrawn', '20100 b gained job: released']);
  });

  it.each<[string, readonly string[], (replica: Replica, election: Election) => unknown]>([
    ['it withdraws', [], (_replica, election) => void election.withdraw('unregistered')],
    ['it closes', [], (replica) => void replica.close()],
    ['its deadline has passed', ['a.2@10000#2'], () => void world.clock.block(9_000)],
    ['the store has ended its lease', ['a.2@10000#2'], () => (world.server.jump(10_000), world.clock.sleep(3_001))],
    ['the store is another one', ['a.1@10000#2'], () => (world.server.restart(), world.clock.sleep(3_001))],
  ])('whose take is answered when %s does not lead by it', async (_when, holders, happens) => {
    const a = world.add('a');
    const { election, terms } = a.compete('job');
    a.store.scriptWrite(async (carryOut) => {
      const revisions = await carryOut();
      await happens(a.replica, election);
      return revisions;
    });
    await world.clock.advance(14_000);
    const { fencingToken, holder } = world.record() ?? {};
    expect([terms.map((term) => term.holder), holder, fencingToken]).toEqual([holders, holders[0], expect.any(Number)]);
  });

  it('remembers the end of a run that outlived its term, and leaves it to the next leader', async () => {
    const [a, b] = await world.leaderAndFollower();
    const run = { startedAt: 1, by: 'a' };
    void a.job.term.save({ run });
    await world.clock.advance(0);
    const endRun = a.job.run();
    world.server.loseRecord('job:job');
    void b.job.election.withdraw('unregistered');
    await world.clock.advance(10_000);
    a.job.term.set({ run: { ...run, endedAt: 2 } });
    endRun();
    await world.clock.advance(0);
    expect(world.story).toEqual(['3000 a lost job: preempted', '10100 a gained job: first']);
    expect(world.record()?.run).toEqual({ ...run, endedAt: 2 });
  });
});

describe('an error of the library', () => {
  const fail = (): never => {
    throw new Error('wrong');
  };

  it('in one election is reported once, and stops no other', async () => {
    const a = world.add('a');
    const job = a.compete('job');
    job.inherit = fail;
    await world.clock.advance(100);
    const other = a.compete('other');
    await world.clock.advance(20_000);
    job.inherit = () => ({});
    await world.clock.advance(10_000);
    expect(world.story).toEqual([
      '0 a failed job: Error: wrong',
      '100 a gained other: first',
      '21000 a gained job: first',
    ]);
    expect([job, other].map(({ term }) => term.isValid())).toEqual([true, true]);
  });

  it('at the begin of a term stops neither another one nor the replica', async () => {
    const a = world.add('a');
    const [job, other] = [a.compete('job'), a.compete('other')];
    job.lead = fail;
    await world.clock.advance(20_000);
    expect(world.story).toEqual(expect.arrayContaining(['0 a failed job: Error: wrong', '0 a gained other: first']));
    expect(other.term.isValid()).toBe(true);
  });

  it('in the election of a leader gives the job to another replica', async () => {
    const [a] = await world.leaderAndFollower();
    Object.assign(a.job, { reconciled: fail });
    a.job.election.enqueue();
    await world.clock.advance(1_000);
    expect(world.story).toEqual([
      '100 a failed job: Error: wrong',
      '100 a released job: runner-failed',
      '100 b gained job: released',
    ]);
  });
});

describe('a caller', () => {
  it('pauses a job: its leader releases it, and no replica takes it until it is resumed', async () => {
    const [a, b] = await world.leaderAndFollower();
    const paused = b.job.pause();
    await world.clock.advance(20_000);
    await expect(paused).resolves.toBe(true);
    expect(world.story).toEqual(['100 a released job: paused']);
    const resumed = a.job.resume();
    await world.clock.advance(0);
    await expect(resumed).resolves.toBe(true);
    expect(world.story.slice(1)).toEqual(['20100 a gained job: released']);
  });

  it('does not pause a job by a write that arrives after its time', async () => {
    const [, b] = await world.leaderAndFollower();
    b.store.script.compareAndSet = (carryOut) => {
      world.clock.setTimer(4_000, () => void carryOut());
      return Promise.reject(new Error('lost'));
    };
    void b.job.pause();
    await world.clock.advance(8_000);
    expect(world.record()?.pause).toBeUndefined();
  });

  it('pauses a job whose leader is about to answer a trigger: it runs nothing, and says so', async () => {
    const [a, b] = await world.leaderAndFollower();
    a.store.scriptWrite(async (carryOut) => {
      await world.clock.sleep(50);
      return carryOut();
    });
    const outcome = b.job.command('t', 'trigger');
    await world.clock.advance(10);
    void b.job.pause();
    await world.clock.advance(100);
    await expect(outcome).resolves.toBe('releasing');
    expect(world.story).toEqual(['150 a cancelled t', '150 a released job: paused']);
  });

  it('triggers a run whose answer arrives late, although its leader has begun to step down', async () => {
    const [a, b] = await world.leaderAndFollower();
    a.store.scriptWrite(async (arrive) => {
      a.store.scriptWrite(async (next) => {
        await arrive();
        return next();
      });
      await world.clock.sleep(300);
      throw new Error('lost');
    });
    const endRun = a.job.run();
    const outcome = b.job.command('t', 'trigger');
    await world.clock.advance(150);
    a.job.election.stepDown('rebalance');
    await world.clock.advance(300);
    endRun();
    await world.clock.advance(3_000);
    await expect(outcome).resolves.toBe('started');
    expect(world.story.slice(0, 2)).toEqual(['400 a ran t', '550 a released job: rebalance']);
  });

  it('resumes a job that was paused after a sync had left whose answer is still on its way', async () => {
    const [a, b] = await world.leaderAndFollower();
    b.store.script.sync = async (carryOut) => {
      const answer = await carryOut();
      await world.clock.sleep(500);
      return answer;
    };
    b.job.election.refresh();
    b.job.election.enqueue();
    await world.clock.advance(0);
    void a.job.pause();
    await world.clock.advance(0);
    void b.job.resume();
    await world.clock.advance(1_500);
    expect(world.record()?.pause).toBeUndefined();
  });

  it('triggers a run, although the next command of this replica is written before, and the store restarts', async () => {
    const a = await world.leader();
    void a.job.term.save({ run: { startedAt: 0, by: 'a' } });
    await world.clock.advance(0);
    a.store.script.compareAndSet = async (carryOut) => {
      const revisions = await carryOut();
      if (a.store.writes.length !== 5) return revisions;
      world.server.restart(world.server.snapshot());
      throw new Error('lost');
    };
    const answer = a.job.command('c1', 'trigger');
    const next = { id: 'c2', action: 'step-down', until: 0 } as const;
    void a.job.election.edit({
      isDone: ({ command }) => command?.id === 'c2',
      change: (record) => (record.command?.outcome === undefined ? undefined : { ...record, command: next }),
    });
    await world.clock.advance(5_000);
    expect([await answer, world.story]).toEqual(['started', ['10 a ran c1']]);
  });
});
