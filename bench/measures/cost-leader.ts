import { setTimeout as delay } from 'node:timers/promises';
import { bareTimer, type Contestant, electionPerJob, singletonJob } from '../contestants.js';
import { combine, join, type Row } from '../figures.js';
import { type Measure, type Scale, times } from '../measure.js';
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
  // 100 jobs are 200 runs per second, of which V8 still compiles parts after half a minute. Once in a minute or two it
  // collects the old objects and compiles again, which took as much as 20 s of runs. Windows of 5 s after 30 s gave
  // ratios from 1.25 to 1.7 for one build.
  const [settledMs, windowMs] = [pick(60_000, 1_000), pick(20_000, 1_000)];
  const options = { jobs: manyJobs(jobs), count: 1, reports: 'nothing', servers } as const;
  const rounds = await withAll(
    // three processes of each: what V8 makes of one differs by half from the next
    [...CONTESTANTS, ...CONTESTANTS, ...CONTESTANTS],
    () => options,
    async (leaders) => {
      await delay(settledMs);
      return times(pick(3, 1), () => cpuRows(leaders, column, ({ first }) => cpuOf(first, windowMs)));
    },
  );
  return combine(rounds);
}
