import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { sleep } from '../base/time/sleep.js';
import { interval } from '../schedule/interval.js';
import { type JobCommandRequest } from '../store/lock-store.js';
import { settle } from '../testing/index.js';
import { type TestReplica, type TestReplicaOptions } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const MINUTELY = cron('* * * * *', { timeZone: 'UTC' });
const NO_ANSWER = { started: false, reason: 'no-answer', by: null };
const UNREACHABLE = { ...NO_ANSWER, reason: 'unreachable' };
const NO_STEP_DOWN = { steppedDown: false, reason: 'no-answer', by: null };

/** On a cluster the sessions may be on another node than the lock. The clock of that node is so far ahead. */
function setSessionsAhead({ store }: TestReplica, aheadMs: number): void {
  const heartbeat = store.heartbeat.bind(store);
  store.heartbeat = async (request) => {
    const result = await heartbeat(request);
    return { ...result, storeTime: result.storeTime + aheadMs };
  };
}

const triggeredRuns = ({ observer }: TestReplica): number =>
  observer.of('runStarted').filter(({ cause }) => cause === 'trigger').length;
const rolesOf = (...replicas: TestReplica[]) =>
  replicas.map(({ registry }) => registry.get('tick')).map((status) => [status.role, status.pausedAt]);

describe('Any replica', () => {
  const replicas = useReplicas();
  const passes = (ms: number): Promise<void> => replicas.clock.advance(ms);

  /** The result of a call, within two seconds by default. */
  const answer = async <T>(call: Promise<T>, withinMs = 2_000): Promise<unknown> => {
    let answered: unknown = 'nothing yet';
    call.then(
      (value) => (answered = value),
      (error: unknown) => (answered = error),
    );
    await passes(0);
    const begunMs = replicas.clock.now();
    while (answered === 'nothing yet' && replicas.clock.now() < begunMs + withinMs) await passes(50);
    return answered;
  };

  /** `a` leads, `b` and `c` follow. */
  const three = async (definition: Parameters<typeof job>[0] = {}, options?: TestReplicaOptions) => {
    const a = replicas.start('a', [job(definition)], options);
    await passes(10);
    const [b, c] = [replicas.start('b', [job(definition)]), replicas.start('c', [job(definition)])];
    await passes(90);
    return { a, b, c };
  };

  describe('triggers a job', () => {
    it('on the replica that leads it', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      expect(await answer(b.registry.trigger('tick'), 0)).toEqual({
        started: true,
        fencingToken: a.observer.of('leadershipGained')[0]?.fencingToken,
        startedAt: '2027-01-01T00:00:00.100Z',
        by: 'a',
      });
      expect([triggeredRuns(a), triggeredRuns(b)]).toEqual([1, 0]);
    });

    it('from a replica on which all jobs are disabled', async () => {
      await three({ schedule: MINUTELY });
      const d = replicas.start('d', [job({ enabled: false })]);
      expect(await answer(d.registry.trigger('tick'))).toMatchObject({ started: true, by: 'a' });
    });

    it('once when two callers trigger it at the same time', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY, run: lasting(replicas.clock, 500) });
      const calls = [b.registry.trigger('tick'), c.registry.trigger('tick')];
      const results = await Promise.all(calls.map((call) => answer(call)));
      expect(results).toMatchObject([{ started: true }, { started: false, reason: 'running', leader: 'a', by: 'a' }]);
      expect(triggeredRuns(a)).toBe(1);
    });

    it('once when the message arrives twice', async () => {
      const { a } = await three({ schedule: MINUTELY });
      setSessionsAhead(a, 60_000);
      await passes(5_000);
      const expiresAt = replicas.clock.wallNow() + 2_000;
      const request: JobCommandRequest = { kind: 'request', id: 'b#1', action: 'trigger', name: 'tick', expiresAt };
      replicas.server.publish(request);
      await passes(0);
      replicas.server.publish(request);
      await passes(0);
      expect(triggeredRuns(a)).toBe(1);
    });

    it('once when the message arrives again after the run has ended', async () => {
      const { a } = await three({ schedule: MINUTELY });
      const expiresAt = replicas.clock.wallNow() + 2_000;
      const request: JobCommandRequest = { kind: 'request', id: 'b#1', action: 'trigger', name: 'tick', expiresAt };
      replicas.server.publish(request);
      await passes(1_000);
      expect(a.registry.get('tick').runningSince).toBeNull();
      replicas.server.publish(request);
      await passes(500);
      expect(triggeredRuns(a)).toBe(1);
    });

    it('not when its leader steps down between the request and the run', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      a.store.delayMs = 100;
      const call = b.registry.trigger('tick');
      await passes(50);
      void a.registry.stepDown('tick');
      expect(await answer(call)).toMatchObject(NO_ANSWER);
      expect([triggeredRuns(a), triggeredRuns(b)]).toEqual([0, 0]);
    });

    it('not while its leader waits for a run before it steps down, and names the reason', async () => {
      const { a, b } = await three({ run: lasting(replicas.clock, 60_000) });
      await passes(1_000);
      void a.registry.stepDown('tick');
      expect(await answer(b.registry.trigger('tick'))).toMatchObject({ reason: 'lease-unconfirmed', by: 'a' });
      expect(await answer(b.registry.stepDown('tick'))).toEqual({ steppedDown: true, by: 'a' });
    });

    it.each([
      ['paused', 1_000, 1],
      ['paused', 2_500, 0],
      ['suspended', 2_500, 0],
    ] as const)('while its leader is halted (%s) for %i ms: %i run', async (how, forMs, runs) => {
      const { a, b } = await three({ schedule: MINUTELY });
      a.clock.halt(how);
      const call = b.registry.trigger('tick');
      await passes(forMs);
      a.clock.resume();
      expect(await answer(call)).toMatchObject(runs === 1 ? { started: true } : NO_ANSWER);
      await passes(5_000);
      expect(triggeredRuns(a)).toBe(runs);
    });

    it.each([
      [60_000, 2_500, 0],
      [-60_000, 0, 1],
    ] as const)(
      'where the node of the sessions is %i ms ahead, after %i ms: %i run',
      async (aheadMs, afterMs, runs) => {
        const { a, b } = await three({ schedule: MINUTELY });
        setSessionsAhead(b, aheadMs);
        a.clock.halt('paused');
        const call = b.registry.trigger('tick');
        await passes(afterMs);
        a.clock.resume();
        await answer(call);
        expect(triggeredRuns(a)).toBe(runs);
      },
    );

    it('not when the host of its leader is suspended while the leader renews its lock', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      a.store.delayMs = 100;
      const call = b.registry.trigger('tick');
      await passes(50);
      a.clock.halt('suspended');
      expect(await answer(call)).toMatchObject(NO_ANSWER);
      await passes(1_000);
      a.clock.resume();
      await passes(1_000);
      expect(triggeredRuns(a)).toBe(0);
    });

    it('not after the call has resolved without an answer, however slow Redis is', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      const renew = b.store.renew.bind(b.store);
      b.store.renew = async (request) => {
        await new Promise<void>((resolve) => replicas.clock.setTimer(1_500, resolve));
        return renew(request);
      };
      a.store.delayMs = 1_000;
      expect(await answer(b.registry.trigger('tick'))).toMatchObject(NO_ANSWER);
      await passes(5_000);
      expect(triggeredRuns(a)).toBe(0);
    });

    it('not without a leader, and resolves at once', async () => {
      const { registry } = replicas.start('d', [job({ enabled: false })]);
      await passes(100);
      expect(await answer(registry.trigger('tick'), 0)).toEqual({ ...NO_ANSWER, leader: null });
      expect(await answer(registry.stepDown('tick'), 0)).toEqual(NO_STEP_DOWN);
    });

    it('not while it is paused, and resolves at once; a lost message of a resume changes nothing', async () => {
      const { a, b } = await three();
      const d = replicas.start('d', [job({ enabled: false })]);
      await answer(a.registry.pause('tick'));
      expect(await answer(d.registry.trigger('tick'), 0)).toMatchObject({ reason: 'paused', leader: null, by: 'd' });
      b.store.losesMessages = true;
      await answer(a.registry.resume('tick'));
      expect(rolesOf(b)).toMatchObject([['paused', expect.anything()]]);
      b.store.losesMessages = false;
      expect(await answer(b.registry.trigger('tick'), 0)).toMatchObject({ started: true });
    });

    it('or resolves within two seconds, even if this replica loses the job first', async () => {
      const { a } = await three();
      a.clock.aheadMs = 60_000;
      a.store.delayMs = 1_500;
      replicas.server.free('tick');
      expect(await answer(a.registry.trigger('tick'))).toMatchObject(UNREACHABLE);
    });

    it('not while Redis or its messages are unavailable, and resolves within two seconds', async () => {
      const { a, b } = await three();
      b.store.unsubscribe();
      expect(await answer(b.registry.trigger('tick'))).toMatchObject(NO_ANSWER);
      expect(await answer(b.registry.stepDown('tick'))).toEqual(NO_STEP_DOWN);
      b.store.subscribe();
      b.store.partition();
      expect(await answer(b.registry.trigger('tick'))).toMatchObject(UNREACHABLE);
      expect(await answer(b.registry.stepDown('tick'))).toEqual({ ...NO_STEP_DOWN, reason: 'unreachable' });
      expect(triggeredRuns(a)).toBe(0);
    });

    it('not once the application has stopped', async () => {
      const { b } = await three();
      b.store.losesMessages = true;
      const call = b.registry.trigger('tick');
      await passes(0);
      void b.pool.close();
      expect(await answer(call, 0)).toMatchObject(NO_ANSWER);
      expect(await answer(b.registry.trigger('tick'), 0)).toMatchObject({ ...NO_ANSWER, reason: 'stopping' });
      expect(await answer(b.registry.stepDown('tick'), 0)).toEqual({ ...NO_STEP_DOWN, reason: 'stopping' });
    });
  });

  describe('steps down', () => {
    it('the leader, and resolves to its name when it begins to', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 5_000) });
      await passes(1_000);
      expect(await answer(c.registry.stepDown('tick'), 0)).toEqual({ steppedDown: true, by: 'a' });
      expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
      await passes(5_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '6000 leadershipReleased stepped-down']);
      expect([leadership(b).length, leadership(c).length].toSorted()).toEqual([0, 1]);
    });

    it('this replica, if it leads, without waiting for its run', async () => {
      const { a } = await three({ run: lasting(replicas.clock, 5_000) });
      await passes(1_000);
      expect(await answer(a.registry.stepDown('tick'), 0)).toEqual({ steppedDown: true, by: 'a' });
    });
  });

  describe('pauses a job', () => {
    it('on all replicas, and each of them lists it', async () => {
      const { a, b, c } = await three();
      expect(await answer(b.registry.pause('tick'), 0)).toEqual({ by: 'a' });
      expect(leadership(a)).toEqual(['0 leadershipGained', '100 leadershipReleased paused']);
      const paused = ['paused', '2027-01-01T00:00:00.100Z'];
      expect(rolesOf(a, b, c)).toEqual([paused, paused, paused]);
      // a follower reads it with its acquire request
      expect(c.store.count('renew')).toBe(0);
      expect([a, b, c].map(({ registry }) => registry.get('tick').nextTickAt)).toEqual([null, null, null]);
      expect(await answer(c.registry.trigger('tick'), 0)).toEqual({
        started: false,
        reason: 'paused',
        leader: null,
        by: 'c',
      });
      await passes(3_600_000);
      expect([...b.observer.eventLines, ...c.observer.eventLines]).toEqual([]);
      for (const { health } of [a, b, c]) expect(health.report()).toMatchObject({ leaderless: [], overdue: [] });
    });

    it('from the replica that leads it', async () => {
      const { a, b, c } = await three();
      expect(await answer(a.registry.pause('tick'), 0)).toEqual({ by: 'a' });
      expect(rolesOf(a, b, c).map(([role]) => role)).toEqual(['paused', 'paused', 'paused']);
    });

    it('whose run in flight ends first, and which is not overdue meanwhile', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 60_000) });
      await passes(1_000);
      expect(await answer(c.registry.pause('tick'), 0)).toEqual({ by: 'a' });
      await passes(50_000);
      expect(rolesOf(a, b, c).map(([role]) => role)).toEqual(['paused', 'paused', 'paused']);
      expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
      expect(a.health.report().overdue).toEqual([]);
      expect(await answer(b.registry.trigger('tick'), 0)).toMatchObject({ reason: 'paused' });
      await passes(10_000);
      expect(a.observer.eventLines.slice(-2)).toEqual([
        '61000 runSucceeded schedule',
        '61000 leadershipReleased paused',
      ]);
    });

    it('whose leader has released it by the time the message arrives', async () => {
      const { a, b } = await three();
      const publish = b.store.publish.bind(b.store);
      b.store.publish = async (message) => {
        await sleep(replicas.clock, 1_000, new AbortController().signal);
        await publish(message);
      };
      // the leader renews its lock at 10 s
      await passes(9_400);
      expect(await answer(b.registry.pause('tick'))).toEqual({ by: 'a' });
      expect(leadership(a)).toEqual(['0 leadershipGained', '10000 leadershipReleased paused']);
    });

    it('without a leader, at once', async () => {
      const { registry } = replicas.start('d', [job({ enabled: false })]);
      await passes(100);
      expect(await answer(registry.pause('tick'), 0)).toEqual({ by: null });
      replicas.start('a', [job()]);
      await passes(1_000);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
    });

    it('from a replica right after its start', async () => {
      await three();
      const d = replicas.start('d', [job()], { network: { isSubscribed: false } });
      const call = d.registry.pause('tick');
      await passes(200);
      d.store.subscribe();
      expect(await answer(call, 100)).toEqual({ by: 'a' });
    });

    it('from a replica that receives no messages, and lists it as paused', async () => {
      const { a, b } = await three();
      b.store.losesMessages = true;
      expect(await answer(b.registry.pause('tick'))).toEqual({ by: null });
      expect(rolesOf(a, b).map(([role]) => role)).toEqual(['paused', 'paused']);
    });

    it('whose leader misses the message: it releases the job at its next renewal', async () => {
      const { a, b } = await three();
      a.store.losesMessages = true;
      expect(await answer(b.registry.pause('tick'))).toEqual({ by: null });
      expect(leadership(a)).toHaveLength(1);
      await passes(8_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '10000 leadershipReleased paused']);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
    });

    it('whose leader misses the message, and which another replica triggers', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY });
      a.store.losesMessages = true;
      b.store.losesMessages = true;
      await answer(c.registry.pause('tick'));
      a.store.losesMessages = b.store.losesMessages = false;
      const result = { started: false, reason: 'paused', leader: 'a', by: 'b' };
      expect(await answer(b.registry.trigger('tick'), 0)).toEqual(result);
    });

    it('whose leader then claims no occurrence, even if it misses the message', async () => {
      const { a, b } = await three({ schedule: MINUTELY, misfireGraceMs: 0 });
      await passes(59_500 - replicas.clock.now());
      a.store.losesMessages = true;
      a.store.outcome = (request) => (request === 'renew' ? 'STORE_REFUSED_WRITE' : 'answered');
      void b.registry.pause('tick');
      await passes(1_000);
      expect(a.observer.of('runStarted')).toEqual([]);
      expect(leadership(a)).toEqual(['0 leadershipGained', '60000 leadershipReleased paused']);
      a.store.outcome = () => 'answered';
      a.store.losesMessages = false;
      await answer(b.registry.resume('tick'));
      const missed = [a, b].flatMap(({ observer }) => observer.of('occurrencesMissed'));
      expect(missed).toMatchObject([{ reason: 'late', count: 1 }]);
    });

    it('whose lock was granted before in a lost answer: it does not run', async () => {
      const a = replicas.start('a', [job({ schedule: interval(1_000) })], {
        network: { outcome: (r) => (r === 'acquire' ? 'answer-lost' : 'answered') },
      });
      await passes(1_000);
      expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
      replicas.server.setPaused({ name: 'tick', isPaused: true });
      a.store.outcome = () => 'answered';
      await passes(5_000);
      expect(a.observer.of('runStarted')).toEqual([]);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      expect(rolesOf(a)).toEqual([['paused', '2027-01-01T00:00:01.000Z']]);
    });

    it('and a follower that misses all messages learns of it within three minutes', async () => {
      const { b, c } = await three();
      c.store.losesMessages = true;
      await answer(b.registry.pause('tick'));
      expect(rolesOf(c)).toEqual([['follower', null]]);
      await passes(180_000);
      expect(rolesOf(c)).toEqual([['paused', '2027-01-01T00:00:00.100Z']]);
    });

    it('beyond the end of every replica', async () => {
      const { a, b, c } = await three();
      await answer(b.registry.pause('tick'));
      for (const { pool } of [a, b, c]) await answer(pool.close());
      const d = replicas.start('d', [job()]);
      await passes(60_000);
      expect(rolesOf(d)).toEqual([['paused', '2027-01-01T00:00:00.100Z']]);
      expect(d.observer.eventLines).toEqual([]);
      expect(await answer(d.registry.resume('tick'), 0)).toEqual({ by: 'd' });
    });

    it('before its first start', async () => {
      replicas.server.setPaused({ name: 'tick', isPaused: true });
      const a = replicas.start('a', [job()]);
      await passes(1_000);
      expect(rolesOf(a)).toEqual([['paused', '2027-01-01T00:00:00.000Z']]);
      expect(await answer(a.registry.resume('tick'), 0)).toEqual({ by: 'a' });
    });

    it('or rejects while Redis is unavailable, and says what is known', async () => {
      const { b } = await three();
      b.store.outcome = (request) => (request === 'setPaused' ? 'request-lost' : 'answered');
      expect(await answer(b.registry.pause('tick'))).toMatchObject({
        code: 'STORE_UNREACHABLE',
        wasSent: true,
        message: expect.stringContaining('tick: it is not known whether the job was paused ('),
      });
      b.store.partition();
      await passes(5_000);
      expect(await answer(b.registry.resume('tick'), 0)).toMatchObject({
        wasSent: false,
        message: 'tick: the job was not resumed (no connection). Try again.',
      });
    });

    it('or rejects after two seconds without an answer', async () => {
      const { b } = await three();
      b.store.answersAfter = new Promise(() => undefined);
      expect(await answer(b.registry.pause('tick'))).toMatchObject({
        code: 'STORE_UNREACHABLE',
        wasSent: true,
        message: expect.stringContaining('(no answer from the store within 2 s)'),
      });
      b.store.answersAfter = undefined;
    });

    it('or rejects if the application stops', async () => {
      const { b } = await three();
      b.store.answersAfter = new Promise(() => undefined);
      const call = b.registry.pause('tick');
      await passes(0);
      const closed = b.pool.close();
      await passes(1_000);
      await closed;
      expect(await answer(call, 0)).toMatchObject({
        message: expect.stringContaining('(the application is stopping)'),
      });
    });

    it('not once the application has stopped, and sends nothing', async () => {
      const { b } = await three();
      await answer(b.pool.close());
      expect(await answer(b.registry.pause('tick'), 0)).toMatchObject({
        wasSent: false,
        message: 'tick: the job was not paused (the application is stopping). Try again.',
      });
      expect(b.store.count('setPaused')).toBe(0);
    });

    it('within two seconds in total, when the store and the leader are slow', async () => {
      const { a, b } = await three();
      b.store.delayMs = 1_500;
      a.store.losesMessages = true;
      expect(await answer(b.registry.pause('tick'))).toEqual({ by: null });
      expect(await answer(b.registry.resume('tick'))).toEqual({ by: null });
    });
  });

  describe('resumes a job', () => {
    it('which a replica leads at once, and reports what was missed', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY, misfireGraceMs: 0 });
      await answer(b.registry.pause('tick'));
      await passes(3 * 60_000);
      const resumed = (await answer(c.registry.resume('tick'), 100)) as { readonly by: string };
      const leader = [a, b, c].find(({ name }) => name === resumed.by);
      expect(leader?.registry.get('tick')).toMatchObject({ role: 'leader', pausedAt: null });
      expect(leader?.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late', count: 3 }]);
      expect(rolesOf(a, b, c).toSorted()).toEqual([
        ['follower', null],
        ['follower', null],
        ['leader', null],
      ]);
    });

    it('from the only replica, right after its start', async () => {
      replicas.server.setPaused({ name: 'tick', isPaused: true });
      const a = replicas.start('a', [job()], { network: { isSubscribed: false }, random: () => 0.5 });
      await passes(100);
      const call = a.registry.resume('tick');
      await passes(100);
      a.store.subscribe();
      expect(await answer(call, 200)).toEqual({ by: 'a' });
    });

    it('at once on the others, also while this replica receives no messages', async () => {
      const { a } = await three();
      const d = replicas.start('d', [job()], { network: { isSubscribed: false }, random: () => 0.5 });
      await answer(a.registry.pause('tick'));
      const call = d.registry.resume('tick');
      await passes(50);
      const leader = replicas.server.holderOf('tick');
      expect(leader).toMatch(/^[abc]\./);
      d.store.subscribe();
      expect(await answer(call, 100)).toEqual({ by: leader?.charAt(0) });
    });

    it('which was not paused, and resolves to its leader', async () => {
      const { c } = await three();
      expect(await answer(c.registry.resume('tick'), 0)).toEqual({ by: 'a' });
    });

    it('before its leader has released it: the leader still releases it, and a replica leads again', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 10_000) });
      await passes(1_000);
      await answer(b.registry.pause('tick'));
      expect(await answer(c.registry.resume('tick'))).toEqual({ by: null });
      expect(rolesOf(a, b, c)).toEqual([
        ['follower', null],
        ['follower', null],
        ['follower', null],
      ]);
      await passes(10_000);
      expect(leadership(a)[1]).toMatch(/leadershipReleased paused$/);
      expect(replicas.server.holderOf('tick')).toBeDefined();
    });

    it('on replicas that miss the message, within three minutes', async () => {
      const { a, b, c } = await three();
      await answer(b.registry.pause('tick'));
      await passes(5_000);
      for (const { store } of [a, b, c]) store.losesMessages = true;
      expect(await answer(c.registry.resume('tick'))).toEqual({ by: null });
      await passes(180_000);
      expect(replicas.server.holderOf('tick')).toBeDefined();
    });

    it('which a replica that misses the message sees from the next leader', async () => {
      const { a, b, c } = await three();
      await answer(b.registry.pause('tick'));
      replicas.server.setPaused({ name: 'tick', isPaused: false });
      a.store.reconnect();
      await passes(500);
      expect(rolesOf(a, c)).toEqual([
        ['leader', null],
        ['follower', null],
      ]);
    });

    it('which a replica in its initial delay reads in the store', async () => {
      const { a } = await three();
      const d = replicas.start('d', [job({ initialDelayMs: 60_000 })]);
      await answer(a.registry.pause('tick'));
      expect(d.registry.get('tick').pausedAt).toBe('2027-01-01T00:00:00.100Z');
      const late: JobCommandRequest = { kind: 'request', id: 'b#9', action: 'resume', name: 'tick', expiresAt: 0 };
      replicas.server.publish(late);
      await passes(100);
      expect(d.registry.get('tick').pausedAt).toBe('2027-01-01T00:00:00.100Z');
      await answer(a.registry.resume('tick'));
      expect(d.registry.get('tick').pausedAt).toBeNull();
    });
  });

  it('ignores requests for jobs that this replica does not have', async () => {
    const definition: Job = job();
    const a = replicas.start('a', [definition]);
    await passes(100);
    const sent = a.store.sent.length;
    replicas.server.publish({
      kind: 'request',
      id: 'b#1',
      action: 'pause',
      name: 'tock',
      expiresAt: Number.MAX_SAFE_INTEGER,
    });
    await settle();
    expect(a.store.sent.length).toBe(sent);
  });
});
