import { describe, expect, it } from '@jest/globals';
import { cron } from '../../libs/singleton-job/src/schedule/index.js';
import { until } from '../support/until.js';
import { led, PATIENT, useMixedFleets } from '../support/use-mixed-fleets.js';

const everySecond = cron('* * * * * *', { timeZone: 'UTC', jobName: 'tick' });
const everyOtherSecond = cron('*/2 * * * * *', { timeZone: 'UTC', jobName: 'tick' });

describe('In a mixed fleet', () => {
  const { mixed } = useMixedFleets();

  it('occurrences up to the last sight of a foreign holder are theirs: neither run again nor reported', async () => {
    const fleet = mixed(PATIENT);
    const first = fleet.ours('ours-1', { schedule: everySecond });
    await until('ours runs', () => fleet.runsOf('ours-1').length > 0);
    await first.supervisor.close();
    const theirs = fleet.original('theirs', { version: 'main', schedule: everySecond });
    await until('the original leads', () => theirs.isLeader);
    const second = fleet.ours('ours-2', { schedule: everySecond });
    await until('the original runs', () => fleet.runsOf('theirs').length > 1);
    await theirs.stop();
    await until('ours runs', () => fleet.runsOf('ours-2').length > 0);
    const sight = second.lastSight();
    const theirOccurrences = fleet.runsOf('theirs').map(({ scheduledAt }) => scheduledAt);
    expect(theirOccurrences.filter((at) => at <= sight).length).toBeGreaterThan(0);
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
    const theirs = fleet.original('theirs', { version: 'main', schedule });
    await until('the original leads', () => theirs.isLeader);
    const ours = fleet.ours('ours', { schedule, misfireGraceMs });
    await until('ours was refused', () => ours.lastSight() > 0);
    ours.store.fate = (command) => (command === 'acquire' ? 'STORE_UNREACHABLE' : 'carried');
    const sight = ours.lastSight();
    const unseen = (): number[] =>
      fleet.runsOf('theirs').flatMap((run) => (run.scheduledAt > sight ? [run.scheduledAt] : []));
    await until('the original runs unseen', () => unseen().length > 0);
    await theirs.stop();
    ours.store.fate = () => 'carried';
    await until('ours runs', () => fleet.runsOf('ours').length > 0);
    return { fleet, ours, sight, unseen: unseen() };
  };

  it('with misfireGrace 0 ours runs no occurrence that the original ran unseen, and reports it', async () => {
    const { fleet, ours, unseen } = await takeOverUnseen(0);
    const ourOccurrences = fleet.runsOf('ours').map(({ scheduledAt }) => scheduledAt);
    expect(unseen.filter((at) => ourOccurrences.includes(at))).toEqual([]);
    const windows = ours.observer.of('occurrencesMissed');
    for (const at of unseen) {
      expect(windows.some(({ from, to }) => from.getTime() < at && at <= to.getTime())).toBe(true);
    }
  });

  it('with a grace ours cannot know better than to make up for what it has not seen the original run', async () => {
    const { fleet, ours, sight } = await takeOverUnseen(30_000);
    expect(ours.observer.of('runStarted')[0]).toMatchObject({ cause: 'misfire' });
    expect(fleet.runsOf('ours')[0]?.scheduledAt).toBeGreaterThan(sight);
  });
});
