import { describe, expect, it } from '@jest/globals';
import { leadership } from '../../../../test/support/event-lines.js';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica, type TestReplicaOptions } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { StoreError } from '../base/errors/store.error.js';
import { type TriggerOptions } from '../control/trigger-options.js';
import { type JobRun } from '../jobs/job-run.js';
import { jobRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';

const MINUTELY = cron('* * * * *');
const NO_ANSWER = { started: false, reason: 'no-answer', by: null };
const NO_STEP_DOWN = { steppedDown: false, reason: 'no-answer', by: null };

const triggeredRuns = ({ observer }: TestReplica): number =>
  observer.of('runStarted').filter(({ cause }) => cause === 'trigger').length;
const rolesOf = (...replicas: TestReplica[]) => replicas.map(({ registry }) => registry.get('tick').role);

describe('Any replica', () => {
  const replicas = useReplicas();
  const passes = (ms: number): Promise<void> => replicas.clock.advance(ms);

  /** The result of a call, within two seconds by default. */
  const answer = async (call: Promise<unknown>, withinMs = 2_000): Promise<unknown> => {
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
  /** A replica on which the job is disabled, as in a script. */
  const script = () => replicas.start('script', [job({ enabled: false })], { random: () => 0.9 });

  describe('triggers a job', () => {
    it('on the replica that leads it, also where it is disabled, and the record has its end at once', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      const { fencingToken } = a.observer.of('leadershipGained')[0] ?? {};
      const run = { started: true, fencingToken, startedAt: '2027-01-01T00:00:00.100Z', by: 'a' };
      for (const { registry } of [b, a, script()]) expect(await answer(registry.trigger('tick'), 0)).toEqual(run);
      expect([triggeredRuns(a), triggeredRuns(b)]).toEqual([3, 0]);
      expect(await answer(b.registry.overview())).toMatchObject([{ lastRun: { outcome: 'succeeded' } }]);
    });

    it('once when two callers trigger it at the same time', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY, run: lasting(replicas.clock, 500) });
      const calls = [b.registry.trigger('tick'), c.registry.trigger('tick')];
      const results = await Promise.all(calls.map((call) => answer(call)));
      const refused = { started: false, reason: 'running', leader: 'a', by: 'a' };
      expect(results).toEqual(expect.arrayContaining([expect.objectContaining({ started: true }), refused]));
      expect(triggeredRuns(a)).toBe(1);
    });

    it.each([
      ['', false, { started: true, by: 'a' }, 1],
      [', and does not know it, when the next command has replaced it', true, NO_ANSWER, 2],
    ])('once when an answer of the store is lost%s', async (_, isReplaced, result, runs) => {
      const { a, b, c } = await three({ schedule: MINUTELY });
      b.store.outcome = (request) => (request === 'compareAndSet' ? 'answer-lost' : 'answered');
      const call = b.registry.trigger('tick');
      await passes(0);
      b.store.outcome = () => 'answered';
      await b.store.publish([jobRecord('tick')]);
      await passes(0);
      if (isReplaced) expect(await answer(c.registry.trigger('tick'), 0)).toMatchObject({ started: true });
      expect(await answer(call)).toMatchObject(result);
      expect(triggeredRuns(a)).toBe(runs);
    });

    it('and looks for the answer each half second, if messages are lost', async () => {
      const { b } = await three({ schedule: MINUTELY });
      b.store.losesMessages = true;
      expect(await answer(b.registry.trigger('tick'), 500)).toMatchObject({ started: true, by: 'a' });
    });

    it.each([
      [1_000, 1],
      [2_500, 0],
    ])('while its leader is halted for %i ms: %i run', async (forMs, runs) => {
      const { a, b } = await three({ schedule: MINUTELY });
      a.clock.halt('paused');
      const call = b.registry.trigger('tick');
      await passes(forMs);
      a.clock.resume();
      expect(await answer(call)).toMatchObject(runs === 1 ? { started: true } : NO_ANSWER);
      await passes(5_000);
      expect(triggeredRuns(a)).toBe(runs);
    });

    it('not on the next leader, and resolves at once when the leader is lost', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY });
      a.kill();
      await passes(9_000);
      expect(await answer(b.registry.trigger('tick'), 1_500)).toMatchObject(NO_ANSWER);
      expect([leadership(b), leadership(c)].flat()).toHaveLength(1);
      await passes(1_000);
      expect([triggeredRuns(b), triggeredRuns(c)]).toEqual([0, 0]);
    });

    it('also when its leader leads it again', async () => {
      const a = await replicas.leader([job({ schedule: MINUTELY })], 1_000);
      expect(await answer(a.registry.trigger('tick'))).toMatchObject({ started: true });
      await answer(a.registry.stepDown('tick'));
      await passes(30_000);
      expect(await answer(a.registry.trigger('tick'))).toMatchObject({ started: true });
      expect(a.observer.of('leadershipGained')).toHaveLength(2);
    });

    it('not while its leader releases it, and names the reason', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 60_000) });
      await passes(1_000);
      await answer(a.registry.stepDown('tick'));
      const result = { started: false, reason: 'lease-unconfirmed', leader: 'a', by: 'a' };
      expect(await answer(b.registry.trigger('tick'), 0)).toEqual(result);
      expect(await answer(c.registry.stepDown('tick'), 0)).toEqual({ steppedDown: true, by: 'a' });
    });

    it('whose leader writes its record again after a restart of the store', async () => {
      const { a, b } = await three({ schedule: MINUTELY });
      replicas.server.restart(replicas.server.snapshot());
      const call = b.registry.trigger('tick');
      await passes(100);
      a.store.reconnect();
      expect(await answer(call)).toMatchObject({ started: true, by: 'a' });
      expect(triggeredRuns(a)).toBe(1);
    });

    it('not without a leader, and resolves at once', async () => {
      const { registry } = script();
      await passes(100);
      expect(await answer(registry.trigger('tick'), 0)).toEqual({ ...NO_ANSWER, leader: null });
      expect(await answer(registry.stepDown('tick'), 0)).toEqual(NO_STEP_DOWN);
      const a = await replicas.leader([job()], 100);
      a.kill();
      await passes(10_000);
      expect(await answer(registry.trigger('tick'), 0)).toEqual({ ...NO_ANSWER, leader: null });
    });

    it('not while the store denies requests or writes, and the error says why', async () => {
      const { b } = await three();
      for (const denied of ['sync', 'compareAndSet']) {
        b.store.outcome = (request) => (request === denied ? 'STORE_MISCONFIGURED' : 'answered');
        const error = { code: 'STORE_MISCONFIGURED', cause: expect.any(StoreError) as unknown };
        expect(await answer(b.registry.trigger('tick'))).toMatchObject(error);
        expect(await answer(b.registry.stepDown('tick'))).toMatchObject(error);
      }
    });

    it('not while the store is unreachable, or once the application has stopped', async () => {
      const { b, c } = await three();
      b.store.partition();
      const unreachable = { reason: 'unreachable', by: null };
      expect(await answer(b.registry.trigger('tick'))).toEqual({ ...unreachable, started: false, leader: 'a' });
      expect(await answer(b.registry.stepDown('tick'))).toEqual({ ...unreachable, steppedDown: false });
      const call = c.registry.trigger('tick');
      void c.pool.close();
      expect(await answer(call, 500)).toMatchObject(NO_ANSWER);
      const stopping = { ...NO_ANSWER, reason: 'stopping' };
      expect(await answer(c.registry.trigger('tick'), 0)).toMatchObject(stopping);
      expect(await answer(c.registry.stepDown('tick'), 0)).toEqual({ ...NO_STEP_DOWN, reason: 'stopping' });
    });
  });

  describe('waits for the end of the run that it triggers', () => {
    const NOT_KNOWN = { outcome: null, error: null, endedAt: null };
    /** A run of three seconds, which ends like this. */
    const ending = (end: () => unknown) => async (run: JobRun) => {
      await run.sleep('3s');
      return end();
    };
    const succeeds = ending(() => undefined);
    const fails = ending(() => Promise.reject(new Error('no feed')));
    /** The call, while the run is in flight. */
    const begin = async ({ registry }: TestReplica, options: TriggerOptions = { wait: '5m' }) => {
      const call = registry.trigger('tick', options);
      call.catch(() => undefined);
      await passes(0);
      return { call };
    };
    const inMs = (ms: number): string => new Date(replicas.clock.wallNow() + ms).toISOString();

    it.each<[string, string | null, Partial<Parameters<typeof job>[0]>, number]>([
      ['succeeded', null, { run: succeeds }, 3_000],
      ['failed', 'no feed', { run: fails }, 3_000],
      ['cancelled', null, { run: succeeds, timeoutMs: 2_000 }, 2_000],
    ])('on the leader, elsewhere and in a script: it %s', async (outcome, error, definition, ms) => {
      const { a, b } = await three({ schedule: MINUTELY, ...definition });
      b.store.losesMessages = true;
      for (const { registry } of [a, b, script()]) {
        const end = { outcome, error, endedAt: inMs(ms) };
        expect(await answer(registry.trigger('tick', { wait: '1m' }), ms + 3_000)).toMatchObject({ by: 'a', ...end });
        await passes(1_000);
      }
    });

    it('whose leader is killed', async () => {
      const { a, b } = await three({ schedule: MINUTELY, run: succeeds });
      const calls = [await begin(b), await begin(script())];
      a.kill();
      await passes(12_000);
      const [run, refused] = await Promise.all(calls.map(({ call }) => answer(call, 0)));
      expect(run).toMatchObject({ started: true, by: 'a', outcome: 'interrupted', error: null });
      expect(refused).toMatchObject({ started: false, reason: 'running' });
    });

    it('that does not begin after all', async () => {
      const { a, b } = await three({ schedule: MINUTELY, run: succeeds });
      let arrive = (): void => undefined;
      a.store.outcome = (request) => {
        if (request === 'compareAndSet') arrive = a.store.holdAnswers();
        return 'answered';
      };
      const { call } = await begin(b);
      await passes(1_000);
      a.store.outcome = () => 'answered';
      a.clock.aheadMs = 20_000;
      arrive();
      expect(await answer(call, 500)).toMatchObject({ started: true, by: 'a', outcome: 'cancelled', error: null });
      expect(triggeredRuns(a)).toBe(0);
    });

    it('while the store is away, and later runs have followed', async () => {
      const runs = [fails, succeeds, succeeds];
      const { c } = await three({ schedule: MINUTELY, run: (run) => runs.shift()?.(run) });
      const end = { outcome: 'failed', error: 'no feed', endedAt: inMs(3_000) };
      const { call } = await begin(c);
      c.store.partition();
      await passes(150_000);
      expect([await answer(call, 0), runs]).toEqual(['nothing yet', []]);
      c.store.heal();
      expect(await answer(call)).toMatchObject(end);
    });

    it('and reads its record with each heartbeat meanwhile', async () => {
      const { b } = await three({ schedule: MINUTELY, run: lasting(replicas.clock, 50_000) });
      await begin(b);
      await passes(1_000);
      b.store.syncs = [];
      await passes(30_000);
      expect(b.store.syncs).toHaveLength(10);
      for (const { read } of b.store.syncs) expect(read).toContain(jobRecord('tick'));
    });

    it('until `wait` is over: the run goes on, and nothing of it is kept', async () => {
      const { a } = await three({ schedule: MINUTELY, run: lasting(replicas.clock, 30_000) });
      const { registry, services } = script();
      const call = registry.trigger('tick', { wait: '2s' });
      expect(await answer(call, 2_000)).toMatchObject({ started: true, by: 'a', ...NOT_KNOWN });
      await passes(500);
      expect(services.replica.elections).toEqual([services.replica.pauseOfAll]);
      expect(a.registry.get('tick').runningSince).not.toBeNull();
    });

    it('until the signal aborts, and rejects with its reason: the run goes on', async () => {
      const { a, b } = await three({ schedule: MINUTELY, run: succeeds });
      const controller = new AbortController();
      const { call } = await begin(b, { wait: '5m', signal: controller.signal });
      await passes(1_000);
      controller.abort(new Error('enough'));
      expect(await answer(call, 0)).toEqual(new Error('enough'));
      await passes(2_000);
      expect(a.registry.get('tick').lastRun).toMatchObject({ cause: 'trigger', outcome: 'succeeded' });
      const { length } = b.store.sent;
      const late = b.registry.trigger('tick', { wait: '5m', signal: controller.signal });
      expect(await answer(late, 0)).toEqual(new Error('enough'));
      expect(b.store.sent).toHaveLength(length);
    });

    it('until its application stops', async () => {
      const { c } = await three({ schedule: MINUTELY, run: lasting(replicas.clock, 30_000) });
      const { call } = await begin(c);
      void c.pool.close();
      expect(await answer(call, 500)).toMatchObject({ started: true, ...NOT_KNOWN });
    });
  });

  describe('pauses a job', () => {
    it('on all replicas, and no replica misses its leader', async () => {
      const { a, b, c } = await three();
      expect(await answer(b.registry.pause('tick'), 0)).toBeUndefined();
      expect(leadership(a)).toEqual(['0 leadershipGained', '100 leadershipReleased paused']);
      await passes(10);
      for (const { registry } of [a, b, c]) {
        const status = { role: 'paused', pausedAt: '2027-01-01T00:00:00.100Z', leader: null, nextTickAt: null };
        expect(registry.get('tick')).toMatchObject(status);
      }
      const refused = { started: false, reason: 'paused', leader: null, by: 'c' };
      expect(await answer(c.registry.trigger('tick'), 0)).toEqual(refused);
      await passes(600_000);
      for (const { observer } of [b, c]) expect(observer.eventLines).toEqual(['10 leaderChanged a', '100 jobPaused']);
      for (const { health } of [a, b, c]) expect(health.report()).toMatchObject({ leaderless: [], overdue: [] });
    });

    it('whose leader then claims no occurrence, even if it misses the message', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY, misfireGraceMs: 120_000 });
      await passes(59_800 - replicas.clock.now());
      a.store.losesMessages = true;
      void b.registry.pause('tick');
      await passes(60_000);
      expect(a.observer.of('runStarted')).toEqual([]);
      expect(leadership(a).at(-1)).toBe('60000 leadershipReleased paused');
      await answer(b.registry.resume('tick'));
      const runs = [a, b, c].flatMap(({ observer }) => observer.of('runStarted'));
      expect(runs).toMatchObject([{ cause: 'misfire', scheduledAt: new Date('2027-01-01T00:01:00Z') }]);
    });

    it('which old data show as paused, but not its leader', async () => {
      const { a, b, c } = await three();
      await answer(c.registry.pause('tick'));
      const snapshot = replicas.server.snapshot();
      await answer(c.registry.resume('tick'));
      await passes(1_000);
      const leader = [a, b, c].find(({ registry }) => registry.get('tick').role === 'leader');
      const other = leader === a ? b : a;
      replicas.server.restart(snapshot);
      const call = answer(other.registry.pause('tick'));
      await passes(100);
      leader?.store.reconnect();
      await call;
      await passes(20_000);
      expect(rolesOf(a, b, c)).toEqual(['paused', 'paused', 'paused']);
    });

    it('at once, while its leader is halted and another caller waits for it', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 60_000) });
      await passes(1_000);
      a.clock.halt('paused');
      const call = c.registry.trigger('tick');
      await passes(200);
      expect(await answer(b.registry.pause('tick'), 0)).toBeUndefined();
      a.clock.resume();
      expect(await answer(call)).toMatchObject({ reason: 'lease-unconfirmed', by: 'a' });
      for (const { registry } of [a, b]) expect(registry.get('tick').pausedAt).toBe('2027-01-01T00:00:01.300Z');
    });

    it('without a leader, also before its first start and beyond the end of every replica', async () => {
      const d = script();
      expect(await answer(d.registry.pause('tick'), 0)).toBeUndefined();
      await answer(d.pool.close());
      const a = replicas.start('a', [job()]);
      await passes(60_000);
      expect(a.registry.get('tick')).toMatchObject({ role: 'paused', pausedAt: '2027-01-01T00:00:00.000Z' });
      expect(a.observer.eventLines).toEqual(['0 jobPaused']);
      expect(await answer(a.registry.resume('tick'), 0)).toBeUndefined();
      expect(rolesOf(a)).toEqual(['leader']);
    });

    it('until a time of the store, when a replica leads it without a message, and each tells of its end', async () => {
      const { a, b, c } = await three();
      const until = new Date('2027-01-01T00:10:01.700Z');
      await answer(b.registry.pause('tick', { until, reason: 'a migration' }));
      const shown = { pausedUntil: until.toISOString(), pauseReason: 'a migration' };
      for (const { registry, store } of [a, b, c]) {
        expect(registry.get('tick')).toMatchObject({ role: 'paused', ...shown });
        store.losesMessages = true;
      }
      await passes(601_700 - 1 - replicas.clock.now());
      expect(rolesOf(a, b, c)).toEqual(['paused', 'paused', 'paused']);
      await passes(101);
      expect(replicas.server.holderOf('tick')).toBeDefined();
      await passes(10_000);
      expect(rolesOf(a, b, c).toSorted()).toEqual(['follower', 'follower', 'leader']);
      const times = { pausedAt: expect.any(Date), pausedUntil: until };
      const paused = { job: 'tick', scope: 'job', ...times, pauseReason: 'a migration' };
      for (const { observer } of [a, b, c]) {
        expect(observer.of('jobPaused')).toEqual([paused]);
        expect(observer.of('jobResumed')).toEqual([{ ...paused, reason: 'expired' }]);
      }
      expect(await answer(b.registry.overview())).toMatchObject([{ pausedAt: null, pausedUntil: null }]);
    });

    it('again: the last pause counts, with its end and its reason', async () => {
      const { a, b } = await three();
      await answer(a.registry.pause('tick', { until: '1m' }));
      await answer(b.registry.pause('tick', { reason: 'longer' }));
      await passes(120_000);
      const since = { pausedAt: '2027-01-01T00:00:00.100Z' };
      expect(a.registry.get('tick')).toMatchObject({ ...since, pausedUntil: null, pauseReason: 'longer' });
      await answer(b.registry.pause('tick', { until: '1m' }));
      expect(a.registry.get('tick')).toMatchObject({ ...since, pauseReason: null });
      await passes(61_000);
      expect(replicas.server.holderOf('tick')).toBeDefined();
    });

    it.each([
      [-30_000, 90_000],
      [30_000, 30_000],
    ])('for longer or shorter when the clock of the store is set by %d ms', async (byMs, forMs) => {
      const { a } = await three();
      await answer(a.registry.pause('tick', { until: 60_000 }));
      replicas.server.jump(byMs);
      await passes(forMs - 100);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      await passes(10_200);
      expect(replicas.server.holderOf('tick')).toBeDefined();
    });

    it('not until a time that has passed by the clock of the store, and says so', async () => {
      const { a } = await three();
      replicas.server.jump(60_000);
      const until = new Date('2027-01-01T00:00:59Z');
      await passes(3_000);
      // a script does not know the time of the store before it has seen the record
      const b = script();
      for (const { registry } of [a, b])
        expect(await answer(registry.pause('tick', { until }))).toMatchObject({
          code: 'INVALID_OPTIONS',
          message: expect.stringContaining('got 2027-01-01T00:00:59.000Z: look where it is made'),
        });
      expect(rolesOf(a)).toEqual(['leader']);
      expect(b.store.sent.filter(({ request }) => request === 'compareAndSet')).toEqual([]);
    });

    it('or rejects while the store is unavailable, and says what is known', async () => {
      const { b } = await three();
      b.store.outcome = (request) => (request === 'compareAndSet' ? 'request-lost' : 'answered');
      expect(await answer(b.registry.pause('tick'))).toMatchObject({
        code: 'STORE_UNREACHABLE',
        wasSent: true,
        message: expect.stringContaining('tick: it is not known whether the job was paused ('),
      });
      b.store.outcome = (request) => (request === 'compareAndSet' ? 'STORE_REFUSED_WRITE' : 'answered');
      expect(await answer(b.registry.pause('tick'))).toMatchObject({ code: 'STORE_REFUSED_WRITE' });
      b.store.partition();
      await passes(5_000);
      expect(await answer(b.registry.resume('tick'))).toMatchObject({
        wasSent: false,
        message: 'tick: the job was not resumed (no connection). Try again.',
      });
    });

    it('or rejects when the application stops, and sends nothing after that', async () => {
      const { b } = await three();
      const arrive = b.store.holdAnswers();
      const call = b.registry.pause('tick');
      await passes(0);
      void b.pool.close();
      await passes(1_500);
      const message = 'tick: the job was not paused (the application is stopping). Try again.';
      expect(await answer(call, 0)).toMatchObject({ message, wasSent: false });
      arrive();
      const { length } = b.store.sent;
      expect(await answer(b.registry.pause('tick'), 0)).toMatchObject({ message });
      expect(b.store.sent).toHaveLength(length);
    });
  });

  describe('pauses all jobs', () => {
    const two = () => [job(), job({ name: 'other', schedule: MINUTELY, run: lasting(replicas.clock, 20_000) })];
    const roles = (...all: TestReplica[]) => all.flatMap(({ registry }) => registry.list().map(({ role }) => role));
    const holders = () => ['tick', 'other'].map((name) => replicas.server.holderOf(name));
    const REASON = { pauseReason: 'a migration', pauseScope: 'all' };

    it('at once, from a script, with their runs let to end, and a new replica leads none', async () => {
      const [a, b] = await replicas.leaderAndFollower(two(), 60_500);
      expect(await answer(script().registry.pauseAll({ reason: 'a migration' }), 0)).toBeUndefined();
      expect(roles(a, b)).toEqual(Array(4).fill('paused'));
      expect(holders()).toEqual([undefined, expect.any(String)]);
      await passes(25_000);
      expect(holders()).toEqual([undefined, undefined]);
      const c = replicas.start('c', two());
      await passes(600_000);
      for (const { registry, health, observer } of [a, b, c]) {
        expect(registry.list()).toMatchObject([REASON, REASON]);
        expect(health.report()).toMatchObject({ leaderless: [], overdue: [] });
        expect(observer.of('jobPaused')).toMatchObject(['tick', 'other'].map((name) => ({ job: name, scope: 'all' })));
      }
      expect(leadership(c)).toEqual([]);
      expect(await answer(c.registry.overview())).toMatchObject([REASON, REASON]);
      expect(await answer(script().registry.trigger('tick'), 0)).toMatchObject({ started: false, reason: 'paused' });
      expect(await answer(b.registry.resumeAll(), 0)).toBeUndefined();
      await passes(100);
      expect(holders()).toEqual([expect.any(String), expect.any(String)]);
      expect(c.observer.of('jobResumed')).toMatchObject([{ reason: 'resumed' }, { reason: 'resumed' }]);
    });

    it('beside the pause of one, which stays when all are resumed', async () => {
      const a = await replicas.leader(two(), 10);
      await answer(a.registry.pause('tick', { reason: 'its own' }));
      await answer(a.registry.pauseAll());
      expect(a.registry.get('tick')).toMatchObject({ pauseScope: 'all', pauseReason: null });
      await answer(a.registry.resumeAll());
      expect(a.registry.get('tick')).toMatchObject({ role: 'paused', pauseScope: 'job', pauseReason: 'its own' });
      expect(a.registry.get('other').role).toBe('leader');
      const ends = a.observer.of('jobResumed').map((event) => [event.job, event.scope]);
      expect(ends).toEqual(['tick', 'other'].map((name) => [name, 'all']));
    });

    it('until a time of the store, when replicas lead them without a message', async () => {
      const [a, b] = await replicas.leaderAndFollower(two(), 10);
      await answer(a.registry.pauseAll({ until: '10m' }));
      for (const { store } of [a, b]) store.losesMessages = true;
      await passes(600_000 - 60);
      expect(holders()).toEqual([undefined, undefined]);
      await passes(160);
      expect(holders()).toEqual([expect.any(String), expect.any(String)]);
      await passes(10_000);
      for (const { observer } of [a, b])
        expect(observer.of('jobResumed')).toMatchObject([{ reason: 'expired' }, { reason: 'expired' }]);
    });

    it('for good until it ends: it does not come back when the clock of the store is set back', async () => {
      const a = await replicas.leader(two(), 10);
      await answer(a.registry.pauseAll({ until: '1m' }));
      await passes(61_000);
      replicas.server.jump(-30_000);
      await passes(10_000);
      expect(roles(a)).toEqual(['leader', 'leader']);
      expect(a.observer.of('jobPaused')).toHaveLength(2);
    });

    it('for longer, also where the message of the longer pause is lost', async () => {
      const [a, b] = [replicas.start('a', two()), replicas.start('b', [])];
      await passes(1_000);
      await answer(b.registry.pauseAll({ until: '1s' }));
      a.store.losesMessages = true;
      await passes(900);
      await answer(b.registry.pauseAll({ until: '1h' }));
      await passes(60_000);
      expect(a.observer.of('leadershipGained')).toHaveLength(2);
      expect(a.registry.get('tick').pausedUntil).toBe('2027-01-01T01:00:01.900Z');
    });

    it('whose end writes nothing and wakes no replica if there is none', async () => {
      const { registry, store } = replicas.start('a', [job({ enabled: false })]);
      expect(await answer(registry.resumeAll(), 0)).toBeUndefined();
      expect(new Set(store.sent.map(({ request }) => request))).toEqual(new Set(['sync']));
    });

    it('also after a restart of the store, and tells of their loss with its data', async () => {
      const a = await replicas.leader(two(), 10);
      await answer(a.registry.pauseAll());
      replicas.server.restart(replicas.server.snapshot());
      await passes(60_000);
      expect(holders()).toEqual([undefined, undefined]);
      replicas.server.loseData();
      await passes(20_000);
      expect(holders()).toEqual([expect.any(String), expect.any(String)]);
      expect(a.observer.of('jobResumed')).toMatchObject([{ reason: 'data-lost' }, { reason: 'data-lost' }]);
    });

    it('and not the locks', async () => {
      const { registry, services } = replicas.start('a', two());
      await answer(registry.pauseAll());
      expect(await answer(services.locks.tryAcquire('import'))).not.toBeNull();
    });

    it('or rejects while the store is unavailable or another program has written the record', async () => {
      const { registry, store, observer } = replicas.start('a', two());
      await passes(10);
      store.outcome = (request) => (request === 'compareAndSet' ? 'request-lost' : 'answered');
      const message = 'all jobs: it is not known whether the jobs were paused (';
      expect(await answer(registry.pauseAll())).toMatchObject({ message: expect.stringContaining(message) });
      store.outcome = () => 'answered';
      replicas.server.corrupt('all:pause');
      expect(await answer(registry.resumeAll())).toMatchObject({ code: 'STORE_MISCONFIGURED' });
      expect(observer.of('requestDenied')).toEqual([{ error: expect.any(StoreError), deniedMs: 0 }]);
      // leaders go on, and no replica takes a job
      await passes(20_000);
      expect(roles(replicas.start('b', two()))).toEqual(['follower', 'follower']);
      expect(await answer(registry.stepDown('tick'))).toMatchObject({ steppedDown: true });
      await passes(20_000);
      expect(holders()).toEqual([undefined, expect.any(String)]);
      replicas.server.repair('all:pause');
      await passes(20_000);
      expect(holders()).toEqual([expect.any(String), expect.any(String)]);
    });
  });

  describe('resumes a job', () => {
    it('which a replica leads at once, and reports what was missed', async () => {
      const { a, b, c } = await three({ schedule: MINUTELY, misfireGraceMs: 0 });
      await answer(b.registry.pause('tick'));
      await passes(3 * 60_000);
      expect(await answer(c.registry.resume('tick'), 0)).toBeUndefined();
      await passes(100);
      expect(rolesOf(a, b, c).toSorted()).toEqual(['follower', 'follower', 'leader']);
      const leader = [a, b, c].find(({ registry }) => registry.get('tick').role === 'leader');
      expect(leader?.registry.get('tick').pausedAt).toBeNull();
      expect(leader?.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late', count: 3 }]);
    });

    it('which was not paused, and its leader goes on', async () => {
      const { a, c } = await three();
      expect(await answer(c.registry.resume('tick'), 0)).toBeUndefined();
      expect(leadership(a)).toEqual(['0 leadershipGained']);
    });

    it('before its leader has released it: the leader still releases it, and a replica leads again', async () => {
      const { a, b, c } = await three({ run: lasting(replicas.clock, 10_000) });
      await passes(1_000);
      await answer(b.registry.pause('tick'));
      expect(await answer(c.registry.resume('tick'), 0)).toBeUndefined();
      expect(rolesOf(a, b, c)).toEqual(['follower', 'follower', 'follower']);
      await passes(10_000);
      expect(leadership(a)[1]).toMatch(/leadershipReleased paused$/);
      expect(replicas.server.holderOf('tick')).toBeDefined();
    });
  });

  it('pauses, triggers and resumes a job without a leader, also where the store has restarted meanwhile', async () => {
    const a = await replicas.leader([job()], 10);
    await answer(a.pool.close());
    replicas.server.restart(replicas.server.snapshot());
    const { registry, services } = script();
    expect(await answer(registry.pause('tick'), 0)).toBeUndefined();
    expect(services.replica.context.leases.all).toEqual([]);
    expect(await answer(registry.trigger('tick'), 0)).toMatchObject({ reason: 'paused' });
    expect(await answer(registry.resume('tick'), 0)).toBeUndefined();
  });

  it('learns that another program has written the record', async () => {
    const { registry } = replicas.start('a', [job({ schedule: interval(1_000) })]);
    replicas.server.corrupt(jobRecord('tick'));
    const error = { code: 'STORE_MISCONFIGURED', message: expect.stringContaining('delete it') };
    for (const call of ['trigger', 'stepDown', 'pause', 'resume'] as const)
      expect(await answer(registry[call]('tick'))).toMatchObject(error);
  });

  it.each([500, 2_500])(
    'asks for a job %d ms after the start whose initialDelay is 3 s, and it is led after that',
    async (ms) => {
      const late = job({ name: 'late', schedule: interval(1_000), initialDelayMs: 3_000 });
      const { registry, store } = replicas.start('a', [late]);
      await passes(ms);
      store.partition();
      const answer = registry.trigger('late').catch(() => undefined);
      await passes(1_000);
      store.heal();
      await passes(60_000);
      await answer;
      expect(registry.get('late').role).toBe('leader');
    },
  );
});
