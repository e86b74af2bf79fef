import {
  bullmq,
  electionPerJob,
  keyPerSlot,
  lockPerTick,
  onPostgres,
  onPostgresShort,
  singletonJob,
  singletonJobShort,
} from '../contestants.js';
import { type Measure, sideBySide } from '../measure.js';
import { manyJobs, Replicas } from '../replicas.js';
import { serverLoad } from '../server-load.js';

const CONTESTANTS = [
  electionPerJob,
  singletonJob,
  singletonJobShort,
  onPostgres,
  onPostgresShort,
  lockPerTick,
  keyPerSlot,
  bullmq,
];

export const costOfRedis: Measure = {
  name: 'cost-redis',
  title: 'Load of the server',
  run: (scale) =>
    sideBySide(CONTESTANTS, async (contestant) => {
      const options = { jobs: manyJobs(100), count: scale.pick(3, 2), reports: 'nothing' } as const;
      await using replicas = await Replicas.start(contestant, options);
      return await serverLoad(replicas, scale);
    }),
};
