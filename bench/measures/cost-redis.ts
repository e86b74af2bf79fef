import {
  bullmq,
  electionPerJob,
  idleRedis,
  keyPerSlot,
  lockPerTick,
  nestLocks,
  onPostgres,
  onPostgresShort,
  singletonJob,
  singletonJobShort,
} from '../contestants.js';
import { withRatio } from '../figures.js';
import { type Measure, sideBySide } from '../measure.js';
import { manyJobs, Replicas } from '../replicas.js';
import { serverLoad } from '../server-load.js';

const CONTESTANTS = [
  idleRedis,
  electionPerJob,
  singletonJob,
  singletonJobShort,
  onPostgres,
  onPostgresShort,
  lockPerTick,
  keyPerSlot,
  nestLocks,
  bullmq,
];

export const costOfRedis: Measure = {
  name: 'cost-redis',
  title: 'Load of the server',
  about:
    'Three replicas and 100 jobs of 500 ms that do nothing. A command is what a client sends. What Redis executes inside its scripts is ' +
    'counted beside it. Two windows follow each other: CPU time first, then the commands of Redis by MONITOR, the transactions of PostgreSQL by its statistics.',
  run: async (scale) => {
    const rows = await sideBySide(CONTESTANTS, async (contestant) => {
      const options = { jobs: manyJobs(100), count: scale.pick(3, 2), reports: 'nothing' } as const;
      await using replicas = await Replicas.start(contestant, options);
      return await serverLoad(replicas, scale);
    });
    return withRatio(rows, 'commands per s', electionPerJob.name);
  },
};
