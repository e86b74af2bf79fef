import { setTimeout as delay } from 'node:timers/promises';
import { bareTimer, type Contestant, electionPerJob, singletonJob } from '../contestants.js';
import { combine, join, type Row, withRatio } from '../figures.js';
import { type Measure, type Scale, SETTLED_MS, times } from '../measure.js';
import { manyJobs, withAll } from '../replicas.js';
import { Servers } from '../servers.js';
import { cpuOf, cpuRows } from '../usage.js';

const CONTESTANTS: readonly Contestant[] = [electionPerJob, singletonJob, bareTimer];

export const costOfLeader: Measure = {
  name: 'cost-leader',
  title: 'CPU time of a leader',
  run: async (scale) => join(await times(2, (index) => measure([100, 1_000][index] ?? 1, scale))),
};

async function measure(jobs: number, { pick }: Scale): Promise<Row[]> {
  await using servers = new Servers();
  const column = `${jobs} jobs, CPU ms per s`;
  const windowMs = pick(5_000, 1_000);
  const options = { jobs: manyJobs(jobs), count: 1, reports: 'nothing', servers } as const;
  const rounds = await withAll(
    CONTESTANTS,
    () => options,
    async (leaders) => {
      await delay(pick(SETTLED_MS, 1_000));
      return times(pick(3, 1), () => cpuRows(leaders, column, ({ first }) => cpuOf(first, windowMs)));
    },
  );
  return withRatio(combine(rounds), column, electionPerJob.name);
}
