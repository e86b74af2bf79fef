import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../../../test/support/event-lines.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { InvalidJobsError, InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { UnknownJobError } from './job-registry.errors.js';
import { type SingletonJobRegistry } from './job-registry.js';
import { type JobStatus } from './job-status.js';
import { type TriggerOptions } from './trigger-options.js';

const MINUTELY = cron('* * * * *');

describe('The registry', () => {
  const replicas = useReplicas();

  const start = replicas.start.bind(replicas);

  function statusOf({ registry }: { registry: SingletonJobRegistry }, name = 'tick'): JobStatus {
    return registry.get(name);
  }

  const registering = (registry: SingletonJobRegistry, name: string) => () => {
    registry.register({ name, schedule: { period: '1s' }, run: () => undefined });
  };

  describe('shows a job', () => {
    it('on its leader and on its followers, which agree on the leader', async () => {
      const a = start('a', [job({ run: lasting(replicas.clock, 300) })]);
      const b = await replicas.another([job()], 2_100);
      const fencingToken = a.observer.of('leadershipGained')[0]?.fencingToken;
      expect(statusOf(a)).toEqual({
        name: 'tick',
        kind: 'fixed-rate',
        schedule: 'fixed-rate 1000ms offset 0ms',
        lockExpiryMs: 10_000,
        timeoutMs: null,
        role: 'leader',
        pausedAt: null,
        pausedUntil: null,
        pauseReason: null,
        pauseScope: null,
        leader: 'a',
        fencingToken,
        leaseRemainingMs: 9_000 - 2_100,
        runningSince: '2027-01-01T00:00:02.000Z',
        lastRun: {
          cause: 'schedule',
          outcome: 'succeeded',
          scheduledAt: '2027-01-01T00:00:01.000Z',
          startedAt: '2027-01-01T00:00:01.000Z',
          durationMs: 300,
          fencingToken,
          error: null,
        },
        nextTickAt: '2027-01-01T00:00:03.000Z',
        counters: { terms: 1, lostTerms: 0, succeeded: 1, failed: 0, cancelled: 0, dropped: 0, missed: 0 },
      });
      expect(statusOf(b)).toMatchObject({ role: 'follower', leader: 'a', fencingToken: null, leaseRemainingMs: null });
      expect(a.registry.list()).toEqual([statusOf(a)]);
    });

    it('as plain data, after any outcome', async () => {
      const jobs = [
        job({ name: 'fails', run: () => Promise.reject(new Error('no feed')) }),
        job({ name: 'off', enabled: false, timeoutMs: 500 }),
        job({ name: 'every-minute', schedule: MINUTELY }),
        job({ name: 'beat', schedule: interval(700), run: lasting(replicas.clock, 400) }),
      ];
      const a = start('a', jobs);
      for (let passedMs = 0; passedMs < 65_000; passedMs += 6_500) {
        await replicas.clock.advance(6_500);
        expect(JSON.parse(JSON.stringify(a.registry.list()))).toEqual(a.registry.list());
      }
      expect(statusOf(a, 'fails').lastRun).toMatchObject({ outcome: 'failed', error: 'no feed' });
      expect(statusOf(a, 'off')).toMatchObject({ role: 'disabled', leader: null, timeoutMs: 500 });
      expect(statusOf(a, 'off').nextTickAt).not.toBeNull();
      expect(statusOf(a, 'every-minute').nextTickAt).toBe('2027-01-01T00:02:00.000Z');
    });

    it('whose lease was lost as a follower, while its run has not ended', async () => {
      const a = await replicas.leader([job({ run: lasting(replicas.clock, 60_000) })], 1_500);
      a.store.outcome = () => 'request-lost';
      await replicas.clock.advance(20_000);
      expect(statusOf(a)).toMatchObject({ role: 'follower', leader: null, fencingToken: null, leaseRemainingMs: null });
      expect(statusOf(a).runningSince).toBe('2027-01-01T00:00:01.000Z');
      expect(statusOf(a).counters).toMatchObject({ terms: 1, lostTerms: 1 });
    });

    it('that is stopped, and one that is paused while its run continues', async () => {
      const a = await replicas.leader([job({ run: lasting(replicas.clock, 2_000) })], 1_500);
      void a.registry.pause('tick');
      await replicas.clock.advance(10);
      expect(statusOf(a)).toMatchObject({ role: 'paused', leader: 'a', fencingToken: null });
      await replicas.clock.advance(2_000);
      expect(statusOf(a)).toMatchObject({ role: 'paused', leader: null, runningSince: null });
      await a.pool.stop();
      expect(statusOf(a).role).toBe('stopped');
    });

    it('with the next run of an interval, between two runs of the leader', async () => {
      const beats = [job({ schedule: interval(10_000), run: lasting(replicas.clock, 500) })];
      const [a, b] = await replicas.leaderAndFollower(beats, 400);
      expect([statusOf(a).nextTickAt, statusOf(b).nextTickAt]).toEqual([null, null]);
      await replicas.clock.advance(600);
      expect([statusOf(a).nextTickAt, statusOf(b).nextTickAt]).toEqual(['2027-01-01T00:00:10.500Z', null]);
      // the delay is by the clock of the store
      a.clock.aheadMs = 20_000;
      expect(statusOf(a).nextTickAt).toBe('2027-01-01T00:00:10.500Z');
    });
  });

  describe('triggers', () => {
    it('a run once a lease in doubt is confirmed', async () => {
      const a = await replicas.leader([job({ schedule: MINUTELY })], 100);
      a.clock.aheadMs = 10_000;
      expect(await a.registry.trigger('tick')).toMatchObject({ started: true });
    });

    it('a run that no tick overlaps', async () => {
      const a = await replicas.leader([job({ run: lasting(replicas.clock, 600) })], 1_700);
      await a.registry.trigger('tick');
      await replicas.clock.advance(500);
      expect(a.observer.eventLines.slice(3)).toEqual(['1700 runStarted trigger', '2000 tickDropped overlap']);
      expect(statusOf(a).counters.dropped).toBe(1);
    });

    it('a run of an interval, and the delay counts from its end on any replica', async () => {
      const beats = [job({ schedule: interval(10_000), run: lasting(replicas.clock, 500) })];
      const a = await replicas.leader(beats, 5_500);
      await a.registry.trigger('tick');
      await replicas.clock.advance(500);
      expect(statusOf(a).nextTickAt).toBe('2027-01-01T00:00:16.000Z');
      await replicas.clock.advance(10_500);
      await a.registry.trigger('tick');
      await replicas.clock.advance(500);
      const b = start('b', beats);
      await a.pool.stop();
      await replicas.clock.advance(30_000);
      expect(timesOf(a, 'runStarted')).toEqual([0, 5_500, 16_000, 16_500]);
      expect(timesOf(b, 'runStarted')).toEqual([27_000, 37_500]);
    });

    it('nothing where it is to wait for no time or too long, and names every mistake', async () => {
      const { registry, store } = start('a', [job()]);
      await replicas.clock.advance(100);
      const { length } = store.sent;
      const wrong = (options: unknown) => registry.trigger('tick', options as TriggerOptions);
      await expect(wrong({ wait: '2d', signal: true, timeout: '5s' })).rejects.toThrow(
        [
          'trigger() cannot use these options:',
          '  - timeout is no option here: the options are wait, signal',
          '  - wait must be at most 1d, got 2d: lower it',
          '  - signal must be an AbortSignal, got true: pass controller.signal',
        ].join('\n'),
      );
      for (const wait of [0, -1, 'soon', undefined]) await expect(wrong({ wait })).rejects.toThrow(InvalidOptionsError);
      await expect(wrong('5m')).rejects.toThrow("options must be an object, got '5m': write { wait: '5m' }");
      expect(store.sent).toHaveLength(length);
    });

    it('no unknown job, and suggests one, like every method', async () => {
      const { registry } = start('a', [job({ name: 'price-tick' })]);
      await expect(registry.trigger('price-tock')).rejects.toEqual(
        new UnknownJobError('price-tock', "did you mean 'price-tick'?"),
      );
      expect(() => registry.get('price-tock')).toThrow(UnknownJobError);
      // what JavaScript gives
      const nothing = undefined as unknown as string;
      await expect(registry.pause(nothing)).rejects.toThrow(UnknownJobError);
    });
  });

  describe('registers a job', () => {
    it('that is elected and runs like any other, with its overrides', async () => {
      const a = start('a', [], { options: { jobs: { beat: { delay: '2s' } } } });
      a.registry.register({ name: 'beat', schedule: { delay: '1s' }, run: () => undefined, lockExpiry: '20s' });
      await replicas.clock.advance(5_000);
      expect(a.observer.of('runStarted')).toHaveLength(3);
      expect(statusOf(a, 'beat')).toMatchObject({ schedule: 'interval 2000ms', lockExpiryMs: 20_000 });
    });

    it('only if its name is free', () => {
      const { registry } = start('a', [job()]);
      const message =
        "job 'tick' must be declared once, got Ticks.tick and register('tick'): give each a name of its own";
      expect(registering(registry, 'tick')).toThrow(message);
      const { registry: early } = replicas.prepare('b', []);
      registering(early, 'tick')();
      expect(registering(early, 'tick')).toThrow(InvalidJobsError);
    });

    it('not after the application has stopped', async () => {
      const a = start('a', []);
      await a.pool.stop();
      expect(registering(a.registry, 'beat')).toThrow('the application has stopped');
    });
  });

  describe('unregisters a job', () => {
    it('when its run has ended, and then it can be registered again', async () => {
      const a = start('a', [job({ run: lasting(replicas.clock, 3_000) })]);
      const b = await replicas.another([job()], 1_500);
      const gone = a.registry.unregister('tick');
      expect(registering(a.registry, 'tick')).toThrow('must be declared once');
      await replicas.clock.advance(2_500);
      await gone;
      expect(a.observer.eventLines.at(-1)).toBe('4000 leadershipReleased unregistered');
      expect(a.registry.list()).toEqual([]);
      await replicas.clock.advance(60_000);
      await b.registry.unregister('tick');
      registering(a.registry, 'tick')();
      await replicas.clock.advance(5_500);
      expect(statusOf(a)).toMatchObject({ role: 'leader', counters: { terms: 1, succeeded: 5 } });
    });

    it('that is led, disabled, followed or waiting, at once', async () => {
      const a = await replicas.leader([job({ name: 'followed' })], 10);
      const b = start('b', [
        job({ name: 'followed' }),
        job({ name: 'off', enabled: false }),
        job({ name: 'late', initialDelayMs: 5_000 }),
        job({ name: 'led' }),
      ]);
      await replicas.clock.advance(10);
      await Promise.all(b.registry.list().map(({ name }) => b.registry.unregister(name)));
      expect(b.registry.list()).toEqual([]);
      await a.pool.stop();
      await replicas.clock.advance(60_000);
      expect(b.observer.of('leadershipGained')).toHaveLength(1);
      registering(b.registry, 'led')();
      await replicas.clock.advance(0);
      expect(statusOf(b, 'led').role).toBe('leader');
    });

    it('that was registered before the start, and refuses an unknown one', async () => {
      const { registry } = replicas.prepare('a', []);
      registering(registry, 'beat')();
      await registry.unregister('beat');
      expect(registry.list()).toEqual([]);
      await expect(registry.unregister('beat')).rejects.toThrow(
        "there is no job 'beat' here: jobs are found when the application starts",
      );
    });
  });
});
