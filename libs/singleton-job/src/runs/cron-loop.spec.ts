import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { clockAhead } from '../base/events/warnings.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** How often the job is due. Short: each replica sets four timers a second. */
const PERIOD = 10 * MINUTE;
const MIDNIGHT = Date.UTC(2027, 0, 1);

const at = (expression: string) => cron(expression, { timeZone: 'UTC' });
/** The replicas begin at midnight: this job is due at 00:10, 00:20, … */
const everyTenMinutes = (overrides: Parameters<typeof job>[0] = {}): Job =>
  job({ name: 'report', schedule: at('*/10 * * * *'), ...overrides });
const everyMinute = (overrides: Parameters<typeof job>[0] = {}): Job =>
  everyTenMinutes({ schedule: at('* * * * *'), ...overrides });

const runsOf = (...replicas: TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer.of('runStarted').map((run) => `${name} ${run.scheduledAt.toISOString().slice(11, 19)} ${run.cause}`),
  );
const missedOf = (...replicas: TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer
      .of('occurrencesMissed')
      .map(({ reason, from, to, count }) => `${name} ${reason} (${clockOf(from)}, ${clockOf(to)}] ${count}`),
  );
const interruptedOf = (...replicas: TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer.of('runInterrupted').map(({ startedAt, by }) => `${name} ${clockOf(startedAt)} by ${by}`),
  );
const clockOf = (date: Date) => date.toISOString().slice(11, 19);

describe('A cron job', () => {
  const replicas = useReplicas();

  it('runs each occurrence once, on the leader, and claims it right before the run', async () => {
    const a = replicas.start('a', [everyTenMinutes()]);
    const b = replicas.start('b', [everyTenMinutes()]);
    await replicas.clock.advance(3 * PERIOD + MINUTE);
    expect(runsOf(a, b)).toEqual(['a 00:10:00 schedule', 'a 00:20:00 schedule', 'a 00:30:00 schedule']);
    expect(missedOf(a, b)).toEqual([]);
    // a take, and for each run its claim and its end
    expect(a.store.count('compareAndSet')).toBe(7);
  });

  it('does not run old occurrences when it is new', async () => {
    const a = replicas.start('a', [everyMinute()]);
    await replicas.clock.advance(500);
    expect(a.observer.eventLines).toEqual(['0 leadershipGained']);
  });

  describe('after a change of leader', () => {
    it('runs an occurrence without a leader in time once, as a misfire', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      const b = replicas.start('b', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 5_000);
      a.store.outcome = () => 'request-lost';
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a, b)).toEqual(['b 00:10:00 misfire']);
      expect(missedOf(a, b)).toEqual([]);
    });

    it('reports occurrences older than the misfire grace, as one event', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(MINUTE);
      await a.pool.stop();
      await replicas.clock.advance(3 * PERIOD);
      const b = replicas.start('b', [everyTenMinutes()]);
      await replicas.clock.advance(1_000);
      expect(runsOf(a, b)).toEqual([]);
      expect(missedOf(b)).toEqual(['b late (00:00:00, 00:30:00] 3']);
    });

    it('runs the newest missed occurrence within the grace and reports the others', async () => {
      const a = replicas.start('a', [everyMinute()]);
      await replicas.clock.advance(90_000);
      await a.pool.stop();
      await replicas.clock.advance(10 * MINUTE - 90_000 + 5_000);
      const b = replicas.start('b', [everyMinute()]);
      await replicas.clock.advance(1_000);
      expect(runsOf(b)).toEqual(['b 00:10:00 misfire']);
      expect(missedOf(b)).toEqual(['b late (00:01:00, 00:09:00] 8']);
    });

    it('reports a missed occurrence with a misfire grace of 0', async () => {
      const a = replicas.start('a', [everyTenMinutes({ misfireGraceMs: 0 })]);
      const b = replicas.start('b', [everyTenMinutes({ misfireGraceMs: 0 })]);
      await replicas.clock.advance(PERIOD - 5_000);
      a.store.outcome = () => 'request-lost';
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a, b)).toEqual([]);
      expect(missedOf(a, b)).toEqual(['b late (00:00:00, 00:10:00] 1']);
      await replicas.clock.advance(PERIOD);
      expect(runsOf(b)).toEqual(['b 00:20:00 schedule']);
    });

    it('does not run an occurrence again on a replica whose clock is behind', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      const b = replicas.start('b', [everyTenMinutes()]);
      b.clock.aheadMs = -10_000;
      await replicas.clock.advance(PERIOD + 1_000);
      await a.pool.stop();
      await replicas.clock.advance(PERIOD + MINUTE);
      expect(runsOf(a, b)).toEqual(['a 00:10:00 schedule', 'b 00:20:00 schedule']);
      expect(missedOf(a, b)).toEqual([]);
    });

    it('reports a claim whose run never began, and starts it on no other replica', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      const b = replicas.start('b', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'answer-lost' : 'request-lost');
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a, b)).toEqual([]);
      expect(missedOf(a, b)).toEqual([]);
      expect(interruptedOf(b)).toEqual(['b 00:10:00 by a']);
    });

    it.each([
      [
        'runs an occurrence late whose claim never arrived',
        'request-lost',
        { runs: ['a 00:10:00 misfire'], reports: [] },
      ],
      ['reports a claim that arrived without a run', 'answer-lost', { runs: [], reports: ['a 00:10:00 by a'] }],
    ] as const)('%s, when its replica leads again', async (_, fault, { runs, reports }) => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      a.store.outcome = (request) => (request === 'compareAndSet' ? fault : 'request-lost');
      await replicas.clock.advance(15_000);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(5_000);
      expect([runsOf(a), interruptedOf(a), missedOf(a)]).toEqual([runs, reports, []]);
    });

    it('reports once a run whose leader was killed right after it began', async () => {
      const work = everyTenMinutes({ run: lasting(replicas.clock, MINUTE) });
      const a = replicas.start('a', [work]);
      const b = replicas.start('b', [work]);
      await replicas.clock.advance(PERIOD + 1);
      a.kill();
      await replicas.clock.advance(MINUTE);
      const c = replicas.start('c', [work]);
      await Promise.all([b.pool.stop(), replicas.clock.advance(MINUTE)]);
      expect(c.observer.of('leadershipGained')).toHaveLength(1);
      expect(interruptedOf(b, c)).toEqual(['b 00:10:00 by a']);
      expect(missedOf(b, c)).toEqual([]);
    });

    it.each([
      ['late', 0],
      ['overlap', PERIOD + 5_000],
    ])('reports again what was reported as %s and not written yet', async (_, runMs) => {
      const work = everyTenMinutes({
        misfireGraceMs: 0,
        run: (run) => (runMs === 0 ? undefined : lasting(replicas.clock, runMs)(run)),
      });
      const isolate = (): void => {
        a.store.outcome = () => 'request-lost';
      };
      const a = replicas.start('a', [work], { observers: [{ tickDropped: isolate, occurrencesMissed: isolate }] });
      await replicas.clock.advance(PERIOD - 5_000);
      if (runMs === 0) await replicas.clock.block(8_000);
      else await replicas.clock.advance(PERIOD + 8_000);
      expect(missedOf(a).length + a.observer.of('tickDropped').length).toBe(1);
      const b = replicas.start('b', [work]);
      await replicas.clock.advance(MINUTE);
      expect(missedOf(b)).toEqual([expect.stringMatching(/^b late .* 1$/)]);
    });

    it('reports a claim without a run also when the schedule has changed since', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'answer-lost' : 'request-lost');
      await replicas.clock.advance(2_000);
      const b = replicas.start('b', [everyTenMinutes({ schedule: at('5-59/10 * * * *') })]);
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a, b)).toEqual([]);
      expect(interruptedOf(b)).toEqual(['b 00:10:00 by a']);
    });

    it('counts no occurrences for a job that had another kind before', async () => {
      const a = replicas.start('a', [job({ name: 'report' })]);
      await replicas.clock.advance(2_000);
      await a.pool.stop();
      await replicas.clock.advance(3 * PERIOD);
      const b = replicas.start('b', [everyTenMinutes()]);
      await replicas.clock.advance(1_000);
      expect(missedOf(b)).toEqual([]);
    });

    it('reports what it inherits once: its take records that', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'answer-lost' : 'request-lost');
      await replicas.clock.advance(PERIOD);
      const changed = everyTenMinutes({ schedule: at('5-59/10 * * * *') });
      const b = replicas.start('b', [changed]);
      const c = replicas.start('c', [changed]);
      await replicas.clock.advance(10);
      b.store.partition();
      await replicas.clock.advance(MINUTE);
      expect(c.observer.of('leadershipGained')).toHaveLength(1);
      expect(interruptedOf(b, c)).toEqual(['b 00:10:00 by a']);
      expect(missedOf(b, c)).toEqual(['b schedule-changed (00:10:00, 00:19:59] 1']);
    });

    it('loses no occurrence to earlier slots of a fixed rate with a clock that was ahead', async () => {
      const grid = job({ name: 'report', schedule: fixedRate(1_000, { offsetMs: 0 }) });
      const a = replicas.start('a', [grid]);
      a.clock.aheadMs = PERIOD;
      await replicas.clock.advance(MINUTE);
      const b = replicas.start('b', [everyMinute()]);
      await replicas.clock.advance(500);
      const c = replicas.start('c', [everyMinute()]);
      await replicas.clock.advance(500);
      void a.pool.stop();
      await replicas.clock.advance(2 * MINUTE);
      void b.pool.stop();
      await replicas.clock.advance(2 * MINUTE);
      expect(runsOf(b, c)).toEqual([
        'b 00:02:00 schedule',
        'b 00:03:00 schedule',
        'c 00:04:00 schedule',
        'c 00:05:00 schedule',
      ]);
      expect(missedOf(b, c)).toEqual([]);
    });

    it('reports the occurrences that a changed schedule leaves behind', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(MINUTE);
      await a.pool.stop();
      await replicas.clock.advance(2 * PERIOD);
      const b = replicas.start('b', [everyTenMinutes({ schedule: at('5-59/10 * * * *') })]);
      await replicas.clock.advance(PERIOD);
      expect(missedOf(b)).toEqual(['b schedule-changed (00:00:00, 00:21:00] 2']);
      expect(runsOf(b)).toEqual(['b 00:25:00 schedule']);
    });

    it('reports them once, also if a failover loses the report and it leads again', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(MINUTE);
      await a.pool.stop();
      await replicas.clock.advance(2 * PERIOD);
      const snapshot = replicas.server.snapshot();
      const b = replicas.start('b', [everyTenMinutes({ schedule: at('5-59/10 * * * *') })]);
      await replicas.clock.advance(5_000);
      replicas.server.restart(snapshot);
      b.store.reconnect();
      await replicas.clock.advance(MINUTE);
      expect(missedOf(b)).toEqual(['b schedule-changed (00:00:00, 00:21:00] 2']);
    });

    it.each([
      ['gives the lock back', ({ pool }: TestReplica) => void pool.stop()],
      ['is killed', ({ store }: TestReplica) => void (store.outcome = () => 'request-lost')],
    ])('starts no occurrence again whose claim a failover lost, if its leader continues and %s', async (_, end) => {
      const a = replicas.start('a', [everyTenMinutes()]);
      const b = replicas.start('b', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      const snapshot = replicas.server.snapshot();
      b.store.partition();
      await replicas.clock.advance(5_000);
      replicas.server.restart(snapshot);
      a.store.reconnect();
      b.store.heal();
      await replicas.clock.advance(3_000);
      end(a);
      await replicas.clock.advance(MINUTE);
      expect(b.observer.of('leadershipGained')).toHaveLength(1);
      expect(runsOf(a, b)).toEqual(['a 00:10:00 schedule']);
      expect(missedOf(a, b)).toEqual([]);
    });
  });

  describe('when the answer to its claim is lost', () => {
    it('repeats the claim and runs once', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      let isFirst = true;
      a.store.outcome = (request) => {
        const isLost = request === 'compareAndSet' && isFirst;
        if (isLost) isFirst = false;
        return isLost ? 'answer-lost' : 'answered';
      };
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a)).toEqual(['a 00:10:00 schedule']);
    });

    it('accepts a late answer, so that a slow connection loses no occurrence', async () => {
      const a = replicas.start('a', [everyTenMinutes({ schedule: at('*/10 * * * * *') })]);
      await replicas.clock.advance(12_000);
      a.store.delayMs = 3_000;
      await replicas.clock.advance(60_000);
      expect(runsOf(a).length + missedOf(a).length).toBeGreaterThanOrEqual(6);
      expect(new Set(runsOf(a)).size).toBe(runsOf(a).length);
    });

    it('reports instead of running when the grace is over before the claim is certain', async () => {
      const a = replicas.start('a', [everyTenMinutes({ misfireGraceMs: 2_000 })]);
      await replicas.clock.advance(PERIOD - 1_000);
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'STORE_UNREACHABLE' : 'answered');
      await replicas.clock.advance(5_000);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a)).toEqual([]);
      expect(missedOf(a)).toEqual(['a late (00:00:00, 00:10:00] 1']);
    });
  });

  describe('when a run is in flight', () => {
    it('claims the tick that it drops, and reports it', async () => {
      const a = replicas.start('a', [everyMinute({ run: lasting(replicas.clock, 90_000) })]);
      await replicas.clock.advance(3 * MINUTE + 1_000);
      expect(runsOf(a)).toEqual(['a 00:01:00 schedule', 'a 00:03:00 schedule']);
      expect(a.observer.of('tickDropped')).toEqual([
        { job: 'report', kind: 'cron', reason: 'overlap', scheduledAt: new Date('2027-01-01T00:02:00Z'), count: 1 },
      ]);
      expect(missedOf(a)).toEqual([]);
    });

    it('reports a tick that waited beyond its grace for a superseded run', async () => {
      const run = lasting(replicas.clock, 90_000);
      const a = replicas.start('a', [everyMinute({ run, overlap: 'cancel-other', misfireGraceMs: 5_000 })]);
      await replicas.clock.advance(3 * MINUTE + 1_000);
      expect(runsOf(a)).toEqual(['a 00:01:00 schedule', 'a 00:03:00 schedule']);
      expect(a.observer.of('tickDropped')).toMatchObject([
        { reason: 'overlap', scheduledAt: new Date('2027-01-01T00:02:00Z'), count: 1 },
      ]);
      expect(missedOf(a)).toEqual([]);
    });

    it("starts when a superseded run ends while older ticks are claimed, with overlap 'cancel-other'", async () => {
      const run = lasting(replicas.clock, 2 * MINUTE + 200);
      const jobs = [everyMinute({ run, overlap: 'cancel-other', misfireGraceMs: 2 * MINUTE })];
      const a = replicas.start('a', jobs, { network: { delayMs: 500 } });
      await replicas.clock.advance(4 * MINUTE);
      expect(a.observer.of('runStarted')[1]?.startedAt.getTime()).toBeLessThan(MIDNIGHT + 3 * MINUTE + 5_000);
    });

    it("runs the newest tick with overlap 'cancel-other'", async () => {
      const run = lasting(replicas.clock, 140_000);
      const a = replicas.start('a', [everyMinute({ run, overlap: 'cancel-other' })]);
      await replicas.clock.advance(4 * MINUTE);
      expect(runsOf(a)).toEqual(['a 00:01:00 schedule', 'a 00:03:00 schedule']);
      expect(a.observer.of('tickDropped')).toMatchObject([
        { reason: 'overlap', scheduledAt: new Date('2027-01-01T00:02:00Z'), count: 1 },
      ]);
    });
  });

  describe('with wrong or blocked clocks', () => {
    it('runs one occurrence late and reports the others after a blocked event loop', async () => {
      const a = replicas.start('a', [everyTenMinutes({ schedule: at('*/2 * * * * *') })]);
      await replicas.clock.advance(2_500);
      await replicas.clock.block(7_000);
      expect(runsOf(a)).toEqual(['a 00:00:02 schedule', 'a 00:00:08 misfire']);
      expect(missedOf(a)).toEqual(['a late (00:00:02, 00:00:06] 2']);
    });

    it('runs nothing early when its wall clock jumps a day ahead', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(5 * MINUTE);
      a.clock.aheadMs = DAY;
      await replicas.clock.advance(2 * PERIOD);
      expect(runsOf(a)).toEqual(['a 00:10:00 schedule', 'a 00:20:00 schedule']);
      expect(missedOf(a)).toEqual([]);
    });

    it('reports a clock that is ahead, waits, and then runs the same occurrence', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      a.clock.aheadMs = 90_000;
      await replicas.clock.advance(PERIOD + 1_000);
      expect(a.observer.of('warning')).toEqual([
        clockAhead(
          'report',
          { node: 'a', store: 'memory' },
          { scheduledAt: new Date('2027-01-01T00:10:00Z'), aheadMs: 90_000 },
        ),
      ]);
      expect(runsOf(a)).toEqual(['a 00:10:00 schedule']);
    });

    it('notices within half a minute that the clock of Redis was corrected', async () => {
      const a = replicas.start('a', [everyTenMinutes({ lockExpiryMs: 2 * PERIOD, misfireGraceMs: MINUTE })]);
      await replicas.clock.advance(5 * MINUTE);
      // by the clock of Redis it is half past, by that of the replica two minutes to
      a.clock.aheadMs = 3 * MINUTE;
      await replicas.clock.advance(3 * MINUTE);
      expect(a.observer.of('warning')).toHaveLength(1);
      replicas.clock.stepWall(2 * MINUTE);
      a.clock.aheadMs = MINUTE;
      await replicas.clock.advance(33_000);
      expect(runsOf(a)).toEqual(['a 00:10:00 misfire']);
      expect(a.observer.of('warning')).toHaveLength(1);
    });

    it('starts no occurrence late by the store if the grace is 0 and its clock is behind', async () => {
      const a = replicas.start('a', [everyTenMinutes({ misfireGraceMs: 0 })]);
      a.clock.aheadMs = -PERIOD;
      await replicas.clock.advance(2 * PERIOD + MINUTE);
      expect(a.observer.events.filter(({ event }) => event === 'runStarted').map(({ atMs }) => atMs)).toEqual([
        PERIOD,
        2 * PERIOD,
      ]);
    });

    it.each([
      ['halfway to its misfire grace, by its own clock', -10_000, 10_000],
      ['further, by the clock of the store', -10 * MINUTE, 0],
    ])('starts every occurrence while its clock is behind: %s', async (_, aheadMs, lateMs) => {
      const a = replicas.start('a', [everyTenMinutes({ misfireGraceMs: 20_000, schedule: at('*/5 * * * * *') })]);
      a.clock.aheadMs = aheadMs;
      await replicas.clock.advance(MINUTE - 1);
      const started = a.observer.of('runStarted').map(({ scheduledAt }) => scheduledAt.getTime() - MIDNIGHT);
      const startedMs = a.observer.events.filter(({ event }) => event === 'runStarted').map(({ atMs }) => atMs);
      expect(startedMs).toEqual(started.map((dueMs) => dueMs + lateMs));
      expect(startedMs.length).toBe((MINUTE - lateMs) / 5_000 - 1);
      expect(missedOf(a)).toEqual([]);
    });

    it('starts none beyond its grace by the store after a slow claim', async () => {
      const a = replicas.start('a', [everyTenMinutes({ misfireGraceMs: 2_000 })]);
      a.clock.aheadMs = -900;
      await replicas.clock.advance(PERIOD);
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'request-lost' : 'answered');
      await replicas.clock.advance(1_500);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(MINUTE);
      expect(runsOf(a)).toEqual([]);
      expect(missedOf(a)).toEqual(['a late (00:00:00, 00:10:00] 1']);
    });

    it('does not start a claimed occurrence after a suspension until the lease is confirmed', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD - 1_000);
      const arrive = a.store.holdAnswers();
      await replicas.clock.advance(1_000);
      replicas.clock.stepWall(20_000);
      a.store.answersAfter = undefined;
      a.store.outcome = (request) => (request === 'sync' ? 'request-lost' : 'answered');
      arrive();
      await replicas.clock.advance(10_000);
      expect(runsOf(a)).toEqual([]);
      a.store.outcome = () => 'answered';
    });

    it('does not run an occurrence again when the wall clock steps back over it', async () => {
      const a = replicas.start('a', [everyTenMinutes()]);
      await replicas.clock.advance(PERIOD + 1_000);
      a.clock.aheadMs = -10 * MINUTE;
      await replicas.clock.advance(5 * MINUTE);
      expect(runsOf(a)).toEqual(['a 00:10:00 schedule']);
    });

    it('waits for an occurrence that is further away than the longest timer', async () => {
      const a = replicas.start('a', [everyTenMinutes({ schedule: at('0 0 1 7 *') })]);
      await replicas.clock.advance(100);
      await replicas.clock.block(181 * DAY - 1_000);
      await replicas.clock.advance(40_000);
      expect(runsOf(a).map((line) => line.slice(0, 10))).toEqual(['a 00:00:00']);
    });
  });

  it('runs a claimed occurrence when a stop comes between its claim and its run', async () => {
    const a = replicas.start('a', [everyTenMinutes({ run: lasting(replicas.clock, 1_000) })]);
    await replicas.clock.advance(PERIOD - 1_000);
    const arrive = a.store.holdAnswers();
    await replicas.clock.advance(1_100);
    const stopped = a.pool.stop();
    arrive();
    await replicas.clock.advance(1_200);
    await stopped;
    expect(a.observer.eventLines.slice(-3)).toEqual([
      '601100 shutdownDelayed schedule',
      '601100 runSucceeded schedule',
      '601100 leadershipReleased shutdown',
    ]);
  });
});
