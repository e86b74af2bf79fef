import { setTimeout as delay } from 'node:timers/promises';
import { type StartTimes } from '../contestants/contestant.js';
import { bareNest, bullmq, type Contestant, lockPerTick, schedule, singletonJob } from '../contestants.js';
import { combine, type Row } from '../figures.js';
import { inTurn, type Measure, times } from '../measure.js';
import { Replicas } from '../replicas.js';
import { Servers } from '../servers.js';
import { usageOf } from '../usage.js';

export const start: Measure = {
  name: 'start',
  title: 'Start of a process',
  run: async ({ pick }) => {
    await using servers = new Servers();
    const contestants = [bareNest, schedule, lockPerTick, singletonJob, bullmq];
    const rounds = await times(pick(5, 1), () => inTurn(contestants, (one) => measure(one, servers)));
    return combine(rounds);
  },
};

async function measure(contestant: Contestant, servers: Servers): Promise<Row['cells']> {
  const job = { name: 'tick', periodMs: 100 };
  await using replicas = await Replicas.start(contestant, { jobs: [job], count: 1, reports: 'nothing', servers });
  await delay(500);
  const { importMs, readyMs, firstRunMs } = await replicas.first.request<StartTimes>('start');
  const { rssMb } = await usageOf(replicas.first);
  return { 'import, ms': importMs, 'ready, ms': readyMs, 'first run, ms': firstRunMs ?? '', 'RSS, MB': rssMb };
}
