import { overlaps } from '../../tools/replicas/history.js';
import { type Contestant, RIVALS, singletonJobShort, withShortLeases } from '../contestants.js';
import { figure, type Row } from '../figures.js';
import { type Measure, sideBySide, times } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

export const failover: Measure = {
  name: 'failover',
  title: 'SIGKILL of the leader in mid-run',
  about:
    'Three replicas, one job of 500 ms with runs of 200 ms. The process that has just started a run is killed, and another one is started ' +
    'in its place. An overlap is a pair of runs at the same time; the run of a killed process ends with it.',
  charts: ['kill to the next run, ms'],

  async run({ isQuick, pick }) {
    const contestants = isQuick ? withShortLeases(RIVALS) : RIVALS;
    return sideBySide(contestants, (one) => measure(one, one === singletonJobShort ? pick(15, 3) : pick(3, 1)));
  },
};

async function measure(contestant: Contestant, kills: number): Promise<Row['cells']> {
  await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND] });
  const leads: number[] = [];
  const runs = await times(kills, async () => {
    const victim = await replicas.freshRun();
    const killedAtMs = Date.now();
    await victim.kill();
    const { startedAtMs } = await replicas.runAfter(killedAtMs, victim);
    const gained = replicas.all
      .flatMap(({ events }) => events)
      .find(({ event, atMs }) => event === 'leadershipGained' && atMs > killedAtMs);
    if (gained !== undefined) leads.push(gained.atMs - killedAtMs);
    await replicas.add(1);
    return startedAtMs - killedAtMs;
  });
  return {
    kills,
    'kill to the next leader, ms': leads.length === 0 ? '' : figure(leads),
    'kill to the next run, ms': figure(runs),
    'overlapping runs': overlaps(replicas.runs).length,
  };
}
