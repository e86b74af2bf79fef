import { setTimeout as delay } from 'node:timers/promises';
import { bareNest, bullmq, electionPerJob, schedule, singletonJob } from '../contestants.js';
import { combine } from '../figures.js';
import { type Measure, times } from '../measure.js';
import { manyJobs, withAll } from '../replicas.js';
import { Servers } from '../servers.js';
import { usageOf } from '../usage.js';

const CONTESTANTS = [bareNest, singletonJob, schedule, electionPerJob, bullmq];

export const memory: Measure = {
  name: 'memory',
  title: 'Memory with 1,000 jobs',
  run: async ({ pick }) => {
    const rounds = await times(pick(2, 1), async () => {
      await using servers = new Servers();
      // due so seldom that what is measured are the jobs and not their runs
      const jobs = manyJobs(pick(1_000, 100), 60_000);
      const options = { jobs, count: 2, reports: 'nothing', servers } as const;
      return await withAll(
        CONTESTANTS,
        () => options,
        async (fleets) => {
          await delay(pick(2_000, 500));
          const used = fleets.map(async ({ contestant, last }) => {
            const { rssMb } = await usageOf(last);
            await delay(pick(28_000, 500));
            return {
              name: contestant.name,
              cells: { 'after 2 s, MB': rssMb, 'after 30 s, MB': (await usageOf(last)).rssMb },
            };
          });
          return Promise.all(used);
        },
      );
    });
    return combine(rounds);
  },
};
