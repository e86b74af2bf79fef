import { describe, expect, it } from '@jest/globals';
import { type AnySchedule, cron, fixedRate, interval } from '../../libs/singleton-job/src/schedule/index.js';
import { brokenFences, overlaps } from '../support/history.js';
import { type MixedRun, type OurReplica, type Timing } from '../support/original-mixed-fleet.js';
import { until } from '../support/until.js';
import { led, often, PATIENT, QUICK, STATE, useMixedFleets, VERSIONS } from '../support/use-mixed-fleets.js';

const everySecond = cron('* * * * * *', { timeZone: 'UTC', jobName: 'tick' });
const everyOtherSecond = cron('*/2 * * * * *', { timeZone: 'UTC', jobName: 'tick' });
const HOUR_MS = 3_600_000;

/**
 * The original leads and is gone again before a clock that is behind has come to what ours ran last. On a busy machine it may
 * be later: then nothing is started twice all the more.
 */
const BRISK: Timing = { heartbeatIntervalMs: 100, lockExpiryMs: 60_000 };
const PERIOD_MS = 1_000;
/** Less than a period: the slot guard goes no further. */
const BEHIND_MS = 900;

interface Story {
  readonly schedule: AnySchedule;
  readonly theirSchedule?: AnySchedule;
  readonly behindMs?: number;
}

/** Which of ours leads next when the original has led in between. */
const SUCCESSORS = [
  { successor: 'the one that led before', isNew: false, hasFollowed: true },
  { successor: 'another that has followed the original', isNew: true, hasFollowed: true },
  { successor: 'another that has never seen the original', isNew: true, hasFollowed: false },
];

/** What was started more than once. */
const repeated = (runs: readonly MixedRun[]): number[] =>
  runs.map(({ scheduledAt }) => scheduledAt).filter((at, index, all) => all.indexOf(at) !== index);

/** How often an occurrence lies in what a replica has reported as missed. */
const reportsOf = (ours: OurReplica, at: number): number =>
  ours.observer.of('occurrencesMissed').filter(({ from, to }) => from.getTime() < at && at <= to.getTime()).length;

describe('In a mixed fleet', () => {
  const { mixed, redis } = useMixedFleets();

  describe.each(VERSIONS)('with the original %s', (version) => {
    it('occurrences up to the last sight of a foreign holder are theirs: neither run again nor reported', async () => {
      const fleet = mixed(PATIENT);
      const first = fleet.ours('ours-1', { schedule: everySecond });
      await until('ours runs', () => fleet.runsOf('ours-1').length > 0);
      await first.supervisor.close();
      const theirs = fleet.original('theirs', { version, schedule: everySecond });
      await until('the original leads', () => theirs.isLeader);
      const second = fleet.ours('ours-2', { schedule: everySecond });
      const seen = (): MixedRun[] =>
        fleet.runsOf('theirs').filter(({ scheduledAt }) => scheduledAt <= second.lastSight());
      await until('ours has seen the original run', () => seen().length > 1);
      await theirs.stop();
      await until('ours runs', () => fleet.runsOf('ours-2').length > 0);
      const sight = second.lastSight();
      expect(fleet.runsOf('ours-2').filter(({ scheduledAt }) => scheduledAt <= sight)).toEqual([]);
      // an occurrence after that may have been missed; its report begins where the sight ended
      const reported = second.observer.of('occurrencesMissed').map(({ from }) => from.getTime());
      expect(reported.filter((from) => from < sight)).toEqual([]);
    });

    /** The original runs an occurrence that ours, cut off for a while, cannot see to be theirs; then ours takes over. */
    const takeOverUnseen = async (misfireGraceMs: number) => {
      const fleet = mixed(PATIENT);
      const schedule = everyOtherSecond;
      const past = fleet.ours('past', { schedule });
      await led(past);
      await past.supervisor.close();
      const theirs = fleet.original('theirs', { version, schedule });
      await until('the original leads', () => theirs.isLeader);
      const ours = fleet.ours('ours', { schedule, misfireGraceMs });
      await until('ours was refused', () => ours.lastSight() > 0);
      ours.store.fate = (command) => (command === 'acquire' ? 'STORE_UNREACHABLE' : 'carried');
      const unseen = (): number[] =>
        fleet.runsOf('theirs').flatMap((run) => (run.scheduledAt > ours.lastSight() ? [run.scheduledAt] : []));
      await until('the original runs unseen', () => unseen().length > 0);
      await theirs.stop();
      ours.store.fate = () => 'carried';
      await until('ours runs', () => fleet.runsOf('ours').length > 0);
      return { fleet, ours, unseen: unseen() };
    };

    it('with misfireGrace 0 ours runs no occurrence that the original ran unseen, and reports it', async () => {
      const { fleet, ours, unseen } = await takeOverUnseen(0);
      expect(repeated(fleet.runs)).toEqual([]);
      expect(unseen.filter((at) => reportsOf(ours, at) !== 1)).toEqual([]);
    });

    it('with a grace ours cannot know better than to make up for what it has not seen the original run', async () => {
      const { fleet, ours } = await takeOverUnseen(30_000);
      expect(ours.observer.of('runStarted')[0]).toMatchObject({ cause: 'misfire' });
      expect(fleet.runsOf('ours')[0]?.scheduledAt).toBeGreaterThan(ours.lastSight());
    });

    it('an occurrence that ours has claimed and may not have begun is reported when ours leads again', async () => {
      const fleet = mixed(QUICK);
      const first = fleet.ours('ours-1', { schedule: everySecond });
      await led(first);
      let hasClaimed = false;
      first.store.fate = (command) => {
        if (hasClaimed) return 'lost';
        hasClaimed = command === 'claim';
        return hasClaimed ? 'unanswered' : 'carried';
      };
      await until('ours has claimed', () => hasClaimed);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original leads', () => theirs.isLeader);
      const claimed = Number(await redis().hget(STATE, 'last'));
      const second = fleet.ours('ours-2', { schedule: everySecond });
      await until('ours was refused', () => second.lastSight() > 0);
      await theirs.stop();
      await until('ours runs', () => fleet.runsOf('ours-2').length > 0);
      first.store.fate = () => 'carried';
      expect(fleet.runsOfOurs.filter(({ scheduledAt }) => scheduledAt === claimed)).toEqual([]);
      const reports = second.observer.of('occurrencesMissed').filter(({ to }) => to.getTime() === claimed);
      expect(reports).toMatchObject([{ reason: 'start-not-confirmed', count: 1 }]);
      expect(reports[0]?.claimedBy).toMatch(/^ours-1-/);
      expect(reportsOf(second, claimed)).toBe(1);
    });

    describe.each(SUCCESSORS)('between two terms of ours, the second of $successor', ({ isNew, hasFollowed }) => {
      /** Ours runs, then the original, then ours again: by a clock that is behind, so that it comes to what ran last once more. */
      const leadInBetween = async ({ schedule, theirSchedule = often, behindMs = BEHIND_MS }: Story) => {
        const fleet = mixed(BRISK);
        const first = fleet.ours('ours-1', { schedule });
        await led(first);
        const theirs = fleet.original('theirs', { version, schedule: theirSchedule });
        await until('ours runs', () => fleet.runsOfOurs.length > 0);
        await first.supervisor.pause('tick');
        const ran = fleet.runsOfOurs.length;
        await until('the original runs', () => fleet.runsOf('theirs').length > 0);
        const follow = (): OurReplica => {
          const ours = isNew ? fleet.ours('ours-2', { schedule }) : first;
          ours.clock.aheadMs = -behindMs;
          ours.supervisor.resume('tick');
          return ours;
        };
        const follower = hasFollowed ? follow() : undefined;
        if (follower !== undefined) await until('ours was refused', () => follower.lastSight() > 0);
        await theirs.stop();
        const second = follower ?? follow();
        await until('ours runs again', () => fleet.runsOfOurs.length > ran);
        expect(overlaps(fleet.runs)).toEqual([]);
        expect(brokenFences(fleet.runsOfOurs)).toEqual([]);
        const runs = fleet.runsOfOurs;
        return { runs, before: runs.slice(0, ran), ours: new Set([first, second]), sight: second.lastSight() };
      };

      it('no slot of the grid is started twice by ours', async () => {
        const { runs } = await leadInBetween({ schedule: fixedRate(PERIOD_MS) });
        expect(repeated(runs)).toEqual([]);
      });

      it('the gap of an interval holds between the runs of ours', async () => {
        const { runs } = await leadInBetween({ schedule: interval(PERIOD_MS) });
        const gaps = runs.slice(1).map(({ startedAtMs }, index) => startedAtMs - Number(runs[index]?.endedAtMs));
        expect(gaps.filter((gap) => gap < PERIOD_MS - 5)).toEqual([]);
      });

      it('each occurrence is started once by ours, or reported once by ours, unless it is theirs', async () => {
        const story = { schedule: everySecond, theirSchedule: everySecond, behindMs: 2 * BEHIND_MS };
        const { runs, before, ours, sight } = await leadInBetween(story);
        const from = Math.max(...before.map(({ scheduledAt }) => scheduledAt));
        const upTo = Math.max(...runs.map(({ scheduledAt }) => scheduledAt));
        const since = Array.from({ length: (upTo - from) / 1_000 + 1 }, (_, index) => from + index * 1_000);
        const accounts = since.map((at) => {
          const starts = runs.filter(({ scheduledAt }) => scheduledAt === at);
          return starts.length + [...ours].reduce((sum, replica) => sum + reportsOf(replica, at), 0);
        });
        expect(accounts).toEqual(since.map((at) => (at === from || at > sight ? 1 : 0)));
        expect(repeated(runs)).toEqual([]);
      });
    });

    it('a gap that has passed while the original led is not begun anew', async () => {
      const fleet = mixed(PATIENT);
      const schedule = interval(HOUR_MS);
      const first = fleet.ours('ours-1', { schedule });
      await until('ours runs', () => fleet.runsOf('ours-1').length > 0);
      await first.supervisor.close();
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      // an hour passes
      await redis().hincrby(STATE, 'end', -HOUR_MS);
      fleet.ours('ours-2', { schedule });
      await theirs.stop();
      await until('ours runs', () => fleet.runsOf('ours-2').length > 0);
    });

    it('ours keeps no gap to a run of the original, of which it knows nothing', async () => {
      const fleet = mixed(PATIENT);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      const ours = fleet.ours('ours', { schedule: interval(HOUR_MS) });
      await until('ours was refused', () => ours.lastSight() > 0);
      await theirs.stop();
      await until('ours runs', () => fleet.runsOf('ours').length > 0);
    });
  });
});
