import { overlaps } from '../../tools/replicas/history.js';
import {
  bullmqOne,
  type Contestant,
  onPostgres,
  onPostgresShort,
  rivals,
  singletonJob,
  singletonJobShort,
} from '../contestants.js';
import { figure, percentile, type Row } from '../figures.js';
import { type Measure, type Scale, sideBySide, times } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

export const failover: Measure = {
  name: 'failover',
  title: 'SIGKILL of the leader in mid-run',
  about:
    'Three replicas, one job of 500 ms with runs of 200 ms. The process that has just started a run is killed, and another one is started ' +
    'in its place. An overlap is a pair of runs at the same time; the run of a killed process ends with it.',
  mostlyWaits: true,

  run: (scale) => sideBySide(rivals(scale.isQuick), (one) => measure(one, scale)),
};

function killsOf(contestant: Contestant, { pick }: Scale): number {
  if (contestant === singletonJobShort || contestant === onPostgresShort) return pick(100, 3);
  if (contestant === singletonJob || contestant === onPostgres) return pick(30, 1);
  // a queue that waits for a stalled run does so for up to a minute
  return pick(contestant === bullmqOne ? 2 : 3, 1);
}

async function measure(contestant: Contestant, scale: Scale): Promise<Row['cells']> {
  await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND], count: scale.pick(3, 2) });
  const kills = killsOf(contestant, scale);
  const leads: number[] = [];
  const runs = await times(kills, async (index) => {
    const victim = await replicas.freshRun();
    const killedAtMs = Date.now();
    await victim.kill();
    const { startedAtMs } = await replicas.runAfter(killedAtMs, victim);
    const gained = replicas.all
      .flatMap(({ events }) => events)
      .find(({ event, atMs }) => event === 'leadershipGained' && atMs > killedAtMs);
    if (gained !== undefined) leads.push(gained.atMs - killedAtMs);
    if (index + 1 < kills) await replicas.add(1);
    return startedAtMs - killedAtMs;
  });
  return {
    kills,
    'kill to the next leader, ms': leads.length === 0 ? '' : figure(leads),
    'the same, 99 %': leads.length === 0 ? '' : percentile(leads, 0.99),
    'kill to the next run, ms': figure(runs),
    'overlapping runs': overlaps(replicas.runs).length,
  };
}
