import { setTimeout as delay } from 'node:timers/promises';
import { electionPerJob, idleRedis, singletonJob, singletonJobShort } from '../contestants.js';
import { combine } from '../figures.js';
import { type Measure, SETTLED_MS, times } from '../measure.js';
import { HALF_SECOND, withAll } from '../replicas.js';
import { Servers } from '../servers.js';
import { cpuOf, cpuRows } from '../usage.js';

const CONTESTANTS = [idleRedis, singletonJob, singletonJobShort, electionPerJob];

export const costOfFollower: Measure = {
  name: 'cost-follower',
  title: 'CPU time of a follower',
  run: async ({ pick }) => {
    await using servers = new Servers();
    const options = { jobs: [HALF_SECOND], count: 2, reports: 'nothing', servers } as const;
    const rounds = await withAll(
      CONTESTANTS,
      () => options,
      async (followed) => {
        await delay(pick(SETTLED_MS, 500));
        return times(pick(3, 1), () =>
          cpuRows(followed, 'CPU ms per s', ({ last }) => cpuOf(last, pick(12_000, 1_500))),
        );
      },
    );
    return combine(rounds);
  },
};
