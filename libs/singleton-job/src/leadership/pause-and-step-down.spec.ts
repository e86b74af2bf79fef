import { describe, expect, it } from '@jest/globals';
import { type Election } from './election.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { type TestReplicas } from '../testing/replicas/test-replicas.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

function electionOf({ pool }: TestReplica, name = 'tick'): Election {
  const election = pool.find(name)?.active?.election;
  if (election === undefined) throw new Error(`nothing competes for '${name}'`);
  return election;
}

/** Whether a promise has resolved by now. */
async function isDone(replicas: TestReplicas, promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await replicas.clock.advance(0);
  return done;
}

describe('A replica that unregisters a job', () => {
  const replicas = useReplicas();

  it('lets its run end, releases the lock, and another replica leads at once', async () => {
    const a = replicas.start('a', [job({ lockExpiryMs: 10_000, run: lasting(replicas.clock, 30_000) })]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(1_500);
    const removed = a.pool.remove('tick');
    await replicas.clock.advance(29_000);
    expect(await isDone(replicas, removed)).toBe(false);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
    await replicas.clock.advance(500);
    expect(await isDone(replicas, removed)).toBe(true);
    expect(leadership(a)).toEqual(['0 leadershipGained', '31000 leadershipReleased unregistered']);
    expect(leadership(b)).toEqual(['31000 leadershipGained']);
  });

  it('does not wait for an acquire request under way, and releases its lock', async () => {
    const a = replicas.start('a', [job()], { network: { delayMs: 100 } });
    await replicas.clock.advance(150);
    expect(a.store.count('acquire')).toBe(1);
    expect(await isDone(replicas, a.pool.remove('tick'))).toBe(true);
    await replicas.clock.advance(200);
    expect(a.store.count('release')).toBe(1);
    expect(replicas.server.holderOf('tick')).toBeUndefined();
    expect(a.observer.eventLines).toEqual([]);
  });

  it('stops following at once', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(500);
    expect(await isDone(replicas, b.pool.remove('tick'))).toBe(true);
    await a.pool.stop();
    await replicas.clock.advance(60_000);
    expect(b.observer.eventLines).toEqual([]);
  });
});

describe('A replica of a paused job', () => {
  const replicas = useReplicas();

  it('and resumed before its run has ended does not overlap with itself', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 5_000) })]);
    await replicas.clock.advance(1_500);
    await a.registry.pause('tick');
    void a.registry.resume('tick');
    await replicas.clock.advance(6_000);
    expect(a.observer.eventLines.filter((line) => /run|leadership/.test(line))).toEqual([
      '0 leadershipGained',
      '1000 runStarted schedule',
      '6000 runSucceeded schedule',
      '6000 leadershipReleased paused',
      '6000 leadershipGained',
      '7000 runStarted schedule',
    ]);
  });

  it('stops at once', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    await a.registry.pause('tick');
    await replicas.clock.advance(0);
    expect(await isDone(replicas, a.pool.stop())).toBe(true);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '100 leadershipReleased paused']);
  });

  it('during a stop changes nothing about that', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 3_000) })]);
    await replicas.clock.advance(1_500);
    const stopped = a.pool.stop();
    await a.registry.pause('tick');
    await replicas.clock.advance(3_000);
    await stopped;
    expect(leadership(a)).toEqual(['0 leadershipGained', '4000 leadershipReleased shutdown']);
  });
});

describe('A replica that steps down', () => {
  const replicas = useReplicas();

  it('lets its run end under a live lease, and another leads at once', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 30_000) })]);
    const b = replicas.start('b', [job({ run: lasting(replicas.clock, 100) })]);
    await replicas.clock.advance(1_500);
    electionOf(a).stepDown();
    await replicas.clock.advance(29_400);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
    await replicas.clock.advance(100);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '31000 leadershipReleased stepped-down']);
    expect(leadership(b)).toEqual(['31000 leadershipGained']);
  });

  it('leads again after 2 s if no other replica does', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    electionOf(a).stepDown();
    await replicas.clock.advance(0);
    await replicas.clock.advance(1_999);
    expect(leadership(a)).toHaveLength(2);
    await replicas.clock.advance(1);
    expect(leadership(a)).toHaveLength(3);
  });

  it('twice steps down once', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 5_000) })]);
    await replicas.clock.advance(1_500);
    electionOf(a).stepDown();
    electionOf(a).stepDown();
    await replicas.clock.advance(4_500);
    expect(leadership(a)).toEqual(['0 leadershipGained', '6000 leadershipReleased stepped-down']);
  });

  it('continues to follow if it follows', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    electionOf(b).stepDown();
    await a.pool.stop();
    await replicas.clock.advance(0);
    expect(leadership(b)).toEqual(['200 leadershipGained']);
  });

  it('and is paused meanwhile does not compete when it has stood back', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    electionOf(a).stepDown();
    await replicas.clock.advance(0);
    await a.registry.pause('tick');
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toHaveLength(2);
    void a.registry.resume('tick');
    await replicas.clock.advance(0);
    expect(leadership(a)).toHaveLength(3);
  });

  it('stands back also when its lease was lost before its run had ended', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 20_000) })]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(1_500);
    electionOf(a).stepDown();
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(15_000);
    a.store.outcome = () => 'answered';
    await b.pool.remove('tick');
    await replicas.clock.advance(5_000);
    expect(replicas.server.holderOf('tick')).toBeUndefined();
    await replicas.clock.advance(6_000);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
  });

  it('stops without standing back', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    electionOf(a).stepDown();
    await replicas.clock.advance(0);
    expect(await isDone(replicas, a.pool.stop())).toBe(true);
  });
});

describe('A replica whose lease was lost', () => {
  const replicas = useReplicas();

  it('has no term and names no leader, while its run has not ended yet', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 60_000) })]);
    await replicas.clock.advance(1_500);
    const election = electionOf(a);
    expect(election.leader).toMatch(/^a\./);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(20_000);
    expect([election.term, election.leader]).toEqual([undefined, undefined]);
  });
});
