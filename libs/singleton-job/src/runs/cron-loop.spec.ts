import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../../../test/support/event-lines.js';
import { type Outcome } from '../../../../test/support/faulty-store.js';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { clockAhead } from '../base/events/warnings.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';

const MINUTE = 60_000;
const PERIOD = 10 * MINUTE;
const MIDNIGHT = Date.UTC(2027, 0, 1);

const at = (expression: string) => cron(expression);
/** The replicas begin at midnight: this job is due at 00:10, 00:20, … */
const everyTenMinutes = (overrides: Parameters<typeof job>[0] = {}): Job =>
  job({ name: 'report', schedule: at('*/10 * * * *'), ...overrides });
const everyMinute = (overrides: Parameters<typeof job>[0] = {}): Job =>
  everyTenMinutes({ schedule: at('* * * * *'), ...overrides });
/** Due at 00:05, 00:15, … */
const changed = () => everyTenMinutes({ schedule: at('5-59/10 * * * *') });

const clockOf = (date: Date) => date.toISOString().slice(11, 19);

/** What became of the occurrences, replica by replica. */
const told = (...replicas: TestReplica[]): string[] =>
  replicas.flatMap(({ name, observer }) =>
    observer.events.flatMap(({ event, payload }) => {
      if (event === 'runStarted') return `${name} runs ${clockOf(payload.scheduledAt)} ${payload.cause}`;
      if (event === 'runInterrupted')
        return `${name} reports the run at ${clockOf(payload.startedAt)} by ${payload.by}`;
      if (event === 'tickDropped') return `${name} drops ${clockOf(payload.scheduledAt)}`;
      if (event !== 'occurrencesMissed') return [];
      const { from, to, count, reason } = payload;
      return `${name} misses (${clockOf(from)}, ${clockOf(to)}] ${String(count)} ${reason}`;
    }),
  );

/** What becomes of claims, and of the other requests. */
const claims =
  (outcome: Outcome, others: Outcome = 'answered') =>
  (request: string): Outcome =>
    request === 'compareAndSet' ? outcome : others;

describe('A cron job', () => {
  const replicas = useReplicas();
  const passes = (ms: number): Promise<void> => replicas.clock.advance(ms);
  const start = replicas.start.bind(replicas);

  it('runs each occurrence once, on the leader, and claims it right before the run', async () => {
    const [a, b] = await replicas.leaderAndFollower([everyTenMinutes()], 3 * PERIOD + MINUTE);
    expect(told(a, b)).toEqual(['a runs 00:10:00 schedule', 'a runs 00:20:00 schedule', 'a runs 00:30:00 schedule']);
    // a take, and for each run its claim and its end
    expect(a.store.writes.length).toBe(7);
  });

  describe('after a change of leader', () => {
    it.each([
      [31_000, 5_000, ['b misses (00:01:00, 00:09:00] 8 late', 'b runs 00:10:00 misfire']],
      [4_000, 5_000, ['b misses (00:01:00, 00:10:00] 9 late']],
      [0, 0, ['b misses (00:01:00, 00:10:00] 9 late']],
    ])('with a misfire grace of %i ms, %i ms late, reports once what it does not run', async (grace, lateMs, lines) => {
      const work = everyMinute({ misfireGraceMs: grace });
      const a = await replicas.leader([work], 90_000);
      await a.pool.stop();
      await passes(PERIOD + lateMs - 90_000);
      const b = await replicas.another([work], MINUTE);
      expect(told(b)).toEqual([...lines, 'b runs 00:11:00 schedule']);
    });

    it.each<[string, Outcome, readonly string[], string[]]>([
      ['runs late what was never claimed', 'request-lost', [], ['a runs 00:10:00 misfire']],
      ['reports a claim without a run', 'answer-lost', [], ['a reports the run at 00:10:00 by a']],
      ['reports a claim of another', 'answer-lost', ['b'], ['b reports the run at 00:10:00 by a']],
    ])('%s', async (_, outcome, names, lines) => {
      const a = start('a', [everyTenMinutes()]);
      const others = names.map((name) => start(name, [everyTenMinutes()]));
      await passes(PERIOD - 1_000);
      a.store.outcome = claims(outcome, 'request-lost');
      await passes(15_000);
      a.store.outcome = () => 'answered';
      await passes(5_000);
      expect(told(a, ...others)).toEqual(lines);
    });

    it('reports a claim of another although the answer to its take is lost', async () => {
      const a = await replicas.leader([everyTenMinutes()], PERIOD - 1_000);
      a.store.outcome = claims('answer-lost', 'request-lost');
      await passes(2_000);
      const b = start('b', [everyTenMinutes()]);
      b.store.outcome = claims('answer-lost');
      await passes(15_000);
      b.store.outcome = () => 'answered';
      await passes(15_000);
      b.kill();
      const c = start('c', [everyTenMinutes()]);
      await passes(15_000);
      expect(c.observer.of('leadershipGained')).toHaveLength(1);
      expect(told(b, c)).toEqual(['b reports the run at 00:10:00 by a']);
    });

    it('reports what a late claim passes over although its answer is lost', async () => {
      const a = await replicas.leader([everyTenMinutes({ schedule: at('*/2 * * * * *') })], 2_500);
      a.store.outcome = claims('answer-lost', 'request-lost');
      await replicas.clock.block(5_000);
      await passes(5_000);
      a.store.outcome = () => 'answered';
      await passes(1_000);
      const lines = ['a misses (00:00:02, 00:00:04] 1 late', 'a reports the run at 00:00:07 by a'];
      expect(told(a).slice(1, 3)).toEqual(lines);
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
      const a = start('a', [work], { observers: [{ tickDropped: isolate, occurrencesMissed: isolate }] });
      await passes(PERIOD - 5_000);
      if (runMs === 0) await replicas.clock.block(8_000);
      else await passes(PERIOD + 8_000);
      expect(told(a).filter((line) => /drops|misses/.test(line))).toHaveLength(1);
      const b = await replicas.another([work], MINUTE);
      expect(told(b).filter((line) => line.includes('misses'))).toEqual([expect.stringMatching(/1 late$/)]);
    });

    it('reports what it inherits once, also what a changed schedule leaves behind', async () => {
      const a = await replicas.leader([everyTenMinutes()], PERIOD - 1_000);
      a.store.outcome = claims('answer-lost', 'request-lost');
      await passes(PERIOD + 2_000);
      const [b, c] = [start('b', [changed()]), start('c', [changed()])];
      await passes(10);
      b.store.partition();
      await passes(MINUTE);
      expect(c.observer.of('leadershipGained')).toHaveLength(1);
      const reports = ['b reports the run at 00:10:00 by a', 'b misses (00:10:00, 00:20:01] 1 schedule-changed'];
      expect(told(b, c)).toEqual(reports);
    });

    it('misses nothing after a change if nothing was due by the schedule before it', async () => {
      const a = await replicas.leader([everyTenMinutes({ schedule: at('30 2 * * *') })], 1_000);
      await a.pool.stop();
      await passes(2 * PERIOD);
      const b = await replicas.another([everyMinute()], 1_000);
      expect(told(b)).toEqual([]);
    });
  });

  describe('whose claim has no answer', () => {
    const LATE = 'a misses (00:00:00, 00:10:00] 1 late';
    const RUNS = 'a runs 00:10:00 schedule';

    interface Network {
      readonly aheadMs?: number;
      readonly delayMs?: number;
      readonly outcome?: TestReplica['store']['outcome'];
      readonly forMs: number;
      readonly line: string;
    }

    it.each<[string, Network]>([
      ['claims again, and runs once', { outcome: claims('answer-lost'), forMs: 1_100, line: RUNS }],
      ['waits for a slow connection', { delayMs: 3_000, forMs: 5_000, line: RUNS }],
      ['reports it when its grace is over', { outcome: claims('STORE_UNREACHABLE'), forMs: 5_000, line: LATE }],
      ['also by the store', { aheadMs: -900, outcome: claims('request-lost'), forMs: 2_500, line: LATE }],
    ])('%s', async (_, { aheadMs = 0, delayMs = 0, outcome = () => 'answered', forMs, line }) => {
      const misfireGraceMs = delayMs === 0 ? 2_000 : 31_000;
      const a = start('a', [everyTenMinutes({ misfireGraceMs })]);
      a.clock.aheadMs = aheadMs;
      await passes(PERIOD - 1_000);
      Object.assign(a.store, { delayMs, outcome });
      await passes(forMs);
      a.store.outcome = () => 'answered';
      await passes(MINUTE);
      expect(told(a)).toEqual([line]);
    });

    it('runs it after a suspension, once the lease is confirmed', async () => {
      const a = await replicas.leader([everyTenMinutes()], PERIOD - 1_000);
      const arrive = a.store.holdAnswers();
      await passes(1_000);
      a.clock.aheadMs = 20_000;
      a.store.outcome = claims('answered', 'request-lost');
      arrive();
      await passes(1_000);
      expect(told(a)).toEqual([]);
      a.store.outcome = () => 'answered';
      await passes(5_000);
      expect(told(a)).toEqual([RUNS]);
    });

    it('runs it when a stop comes between its claim and its run', async () => {
      const a = await replicas.leader([everyTenMinutes({ run: lasting(replicas.clock, 1_000) })], PERIOD - 1_000);
      const arrive = a.store.holdAnswers();
      await passes(1_100);
      const stopped = a.pool.stop();
      arrive();
      await passes(1_200);
      await stopped;
      expect(told(a)).toEqual([RUNS]);
      expect(a.observer.eventLines.at(-1)).toBe('601100 leadershipReleased shutdown');
    });
  });

  describe('with a run in flight', () => {
    it('claims the tick that it drops, and reports it', async () => {
      const a = await replicas.leader([everyMinute({ run: lasting(replicas.clock, 90_000) })], 3 * MINUTE + 1_000);
      expect(told(a)).toEqual(['a runs 00:01:00 schedule', 'a drops 00:02:00', 'a runs 00:03:00 schedule']);
      const scheduledAt = new Date('2027-01-01T00:02:00Z');
      const drop = { job: 'report', kind: 'cron', reason: 'overlap', scheduledAt, count: 1 };
      expect(a.observer.of('tickDropped')).toEqual([drop]);
    });

    it.each([
      ['runs the newest tick as soon as that has ended', 140_000, 31_000, 200_000],
      ['drops a tick that waited beyond its grace', 90_000, 5_000, 180_000],
    ])("and overlap 'cancel-other', %s", async (_, runMs, misfireGraceMs, startedAtMs) => {
      const run = lasting(replicas.clock, runMs);
      const a = await replicas.leader([everyMinute({ run, overlap: 'cancel-other', misfireGraceMs })], 4 * MINUTE - 1);
      expect(told(a)).toEqual(['a runs 00:01:00 schedule', 'a drops 00:02:00', 'a runs 00:03:00 schedule']);
      expect(timesOf(a, 'runStarted')).toEqual([MINUTE, startedAtMs]);
    });
  });

  describe('with wrong or blocked clocks', () => {
    it('runs one occurrence late and reports the others after a blocked event loop', async () => {
      const a = await replicas.leader([everyTenMinutes({ schedule: at('*/2 * * * * *') })], 2_500);
      await replicas.clock.block(7_000);
      const late = ['a misses (00:00:02, 00:00:06] 2 late', 'a runs 00:00:08 misfire'];
      expect(told(a)).toEqual(['a runs 00:00:02 schedule', ...late]);
    });

    it.each([
      ['ten minutes ahead', PERIOD],
      ['three years ahead', 3 * 365 * 24 * 60 * MINUTE],
      ['two hours behind', -120 * MINUTE],
    ])('leaves nothing of a clock that is %s to a later leader', async (_, aheadMs) => {
      const a = start('a', [everyMinute()]);
      a.clock.aheadMs = aheadMs;
      await passes(MINUTE + 4_000);
      await a.pool.stop();
      const b = await replicas.another([everyMinute()], 2 * MINUTE);
      expect(told(a, b)).toEqual(['a runs 00:01:00 schedule', 'b runs 00:02:00 schedule', 'b runs 00:03:00 schedule']);
    });

    it.each([
      ['says once that occurrences wait, after the clock of the store was ahead for some hours', 2, 0],
      ['begins anew, and says so, after the clock of the store was ahead for more than a day', 30, 3],
    ])('%s', async (_, aheadHours, runs) => {
      const a = await replicas.leader([everyMinute()], MINUTE + 1_000);
      await a.pool.stop();
      replicas.clock.stepWall(-aheadHours * 60 * MINUTE);
      const b = await replicas.another([everyMinute()], 3 * MINUTE);
      expect(told(b)).toHaveLength(runs);
      expect(b.observer.of('warning').map(({ code }) => code)).toEqual(['CLAIMS_AHEAD']);
    });

    it('reports a clock that is ahead, waits, and then runs the same occurrence', async () => {
      const a = start('a', [everyTenMinutes()]);
      a.clock.aheadMs = 150_000;
      await passes(PERIOD + 1_000);
      const scheduledAt = new Date('2027-01-01T00:10:00Z');
      const warning = clockAhead('report', scheduledAt, 150_000, ['a', 'memory']);
      expect(a.observer.of('warning')).toEqual([warning]);
      expect(told(a)).toEqual(['a runs 00:10:00 schedule']);
    });

    it.each([
      ['halfway to its misfire grace, by its own clock', 20_000, -10_000, 10_000],
      ['further, by the clock of the store', 20_000, -PERIOD, 0],
      ['without a grace, by the clock of the store', 0, -PERIOD, 0],
    ])('starts every occurrence while its clock is behind: %s', async (_, misfireGraceMs, aheadMs, lateMs) => {
      const a = start('a', [everyTenMinutes({ misfireGraceMs, schedule: at('*/5 * * * * *') })]);
      a.clock.aheadMs = aheadMs;
      await passes(MINUTE - 1);
      const due = a.observer.of('runStarted').map(({ scheduledAt }) => scheduledAt.getTime() - MIDNIGHT);
      expect(timesOf(a, 'runStarted')).toEqual(due.map((dueMs) => dueMs + lateMs));
      expect(due).toHaveLength((MINUTE - lateMs) / 5_000 - 1);
    });

    it.each([
      ['ahead', PERIOD, 2, ['misses (00:01:00, 00:10:00] 9 late', 'runs 00:11:00 misfire', 'runs 00:12:00 schedule']],
      ['back', -PERIOD, 1, []],
    ])('starts no occurrence twice when the clock of Redis is set %s', async (_, byMs, terms, lines) => {
      const a = await replicas.leader([everyMinute()], 80_000);
      replicas.clock.stepWall(byMs);
      a.clock.aheadMs = -byMs;
      await passes(MINUTE);
      expect(a.observer.of('leadershipGained')).toHaveLength(terms);
      expect(told(a)).toEqual(['a runs 00:01:00 schedule', ...lines.map((line) => `a ${line}`)]);
    });
  });

  describe('whose data are lost', () => {
    /** `a` leads, `b` follows. */
    const two = async (): Promise<readonly [TestReplica, TestReplica]> => {
      const a = await replicas.leader([everyMinute()], 500);
      return [a, start('b', [everyMinute()])];
    };

    it('reports the occurrences around it once, and starts none of them', async () => {
      const [a, b] = await two();
      await passes(54_000);
      a.store.partition();
      replicas.server.loseData();
      await passes(120_000);
      const lost = expect.stringMatching(/^b misses \(00:00:00, 00:01:0\d\] 1 data-lost$/);
      expect(told(a, b)).toEqual([lost, 'b runs 00:02:00 schedule']);
    });

    it('reports a claim without a run, although Redis lost it', async () => {
      const [a, b] = await two();
      await passes(59_400);
      // the claim is carried out, and its leader dies before the answer
      a.store.outcome = claims('answer-lost', 'request-lost');
      await passes(5_000);
      replicas.server.loseData();
      await passes(60_000);
      expect(told(a, b)).toEqual(['b reports the run at 00:01:00 by a', 'b runs 00:02:00 schedule']);
    });
  });
});
