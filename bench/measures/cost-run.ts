import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import {
  bareTimer,
  bullmq,
  type Contestant,
  electionPerJob,
  keyPerSlot,
  lockPerTick,
  schedule,
  singletonJob,
} from '../contestants.js';
import { combine, type Row, withRatio } from '../figures.js';
import { inTurn, type Measure, type Scale, times } from '../measure.js';
import { cpuOf, Replicas } from '../replicas.js';

const PERIOD_MS = 100;
const NEVER_MS = 3_600_000;

export const costOfRun: Measure = {
  name: 'cost-run',
  title: 'CPU time of an empty run',
  about:
    'One process runs 100 jobs of 100 ms that do nothing, and another one has the same jobs with nothing due. ' +
    'The CPU time of the second is taken from that of the first, and the rest is shared out to the runs.',
  charts: ['CPU per run, µs'],
  run: async (scale) => {
    await using server = await RedisServer.start();
    const contestants = [bareTimer, singletonJob, schedule, electionPerJob, lockPerTick, keyPerSlot, bullmq];
    const rounds = await times(scale.pick(3, 1), () => inTurn(contestants, (one) => measure(one, server, scale)));
    return withRatio(combine(rounds), 'CPU per run, µs', bareTimer.name);
  },
};

async function measure(contestant: Contestant, server: RedisServer, { pick }: Scale): Promise<Row['cells']> {
  const jobs = (periodMs: number): { name: string; periodMs: number }[] =>
    Array.from({ length: 100 }, (_, i) => ({ name: `job-${i}`, periodMs }));
  const start = (periodMs: number): Promise<Replicas> =>
    Replicas.start(contestant, { jobs: jobs(periodMs), count: 1, reports: 'nothing', server });
  await using busy = await start(PERIOD_MS);
  await using idle = await start(NEVER_MS);
  await delay(pick(1_000, 200));
  const windowMs = pick(2_000, 500);
  const [used, resting] = await Promise.all([cpuOf(busy.first, windowMs), cpuOf(idle.first, windowMs)]);
  return { 'runs per s': used.runs, 'CPU per run, µs': ((used.perSecond - resting.perSecond) / used.runs) * 1_000 };
}
