import { setTimeout as delay } from 'node:timers/promises';
import { electionPerJob, idleRedis, singletonJob, singletonJobShort } from '../contestants.js';
import { combine, join, type Row } from '../figures.js';
import { type Measure, type Scale, SETTLED_MS, times } from '../measure.js';
import { manyJobs, withAll } from '../replicas.js';
import { Servers } from '../servers.js';
import { cpuOf, cpuRows } from '../usage.js';

const CONTESTANTS = [idleRedis, singletonJob, singletonJobShort, electionPerJob];

export const costOfFollower: Measure = {
  name: 'cost-follower',
  title: 'CPU time of a follower',
  run: async (scale) => join(await times(2, (index) => measure([1, 1_000][index] ?? 1, scale))),
};

async function measure(jobs: number, { pick }: Scale): Promise<Row[]> {
  await using servers = new Servers();
  const column = jobs === 1 ? 'one job, CPU ms per s' : `${jobs} jobs, CPU ms per s`;
  const options = { jobs: manyJobs(jobs), count: 2, reports: 'nothing', servers } as const;
  const rounds = await withAll(
    CONTESTANTS,
    () => options,
    async (followed) => {
      await delay(pick(SETTLED_MS, 500));
      return times(pick(3, 1), () => cpuRows(followed, column, ({ last }) => cpuOf(last, pick(12_000, 1_500))));
    },
  );
  return combine(rounds);
}
