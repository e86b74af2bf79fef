import { setTimeout as delay } from 'node:timers/promises';
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
import { loadOf } from '../servers.js';

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
    'counted beside it, and how often it reads from a socket, which is a round trip. Two windows follow each other: CPU time first, then the commands of Redis by MONITOR, the transactions of PostgreSQL by its statistics.',
  run: async ({ pick }) => {
    const rows = await sideBySide(CONTESTANTS, async (contestant) => {
      await using replicas = await Replicas.start(contestant, {
        jobs: manyJobs(100),
        count: pick(3, 2),
        reports: 'nothing',
      });
      // by then each replica has read each record
      await delay(pick(10_000, 500));
      const { url } = replicas.server;
      // leaders write their records every 10 s, so commands are counted over two of these
      const { cpuMsPerSecond, commandsPerSecond } = loadOf(replicas);
      const cpu = await cpuMsPerSecond(url, pick(10_000, 1_000));
      const { sent, inScripts = '', reads = '' } = await commandsPerSecond(url, pick(20_000, 2_000));
      return {
        'commands per s': sent,
        'inside scripts per s': inScripts,
        'round trips per s': reads,
        'server CPU, ms per s': cpu,
      };
    });
    return withRatio(rows, 'commands per s', electionPerJob.name);
  },
};
