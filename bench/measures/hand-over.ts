import { setTimeout as delay } from 'node:timers/promises';
import { type Contestant, RIVALS } from '../contestants.js';
import { figure, type Row } from '../figures.js';
import { type Measure, sideBySide, times } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

export const handOver: Measure = {
  name: 'hand-over',
  title: 'SIGTERM of the leader',
  about:
    'Three replicas, one job of 500 ms with runs of 200 ms. The process that runs the job gets a SIGTERM at a random time, as in a rolling ' +
    'deploy. The next run is the first one on another replica.',
  charts: ['SIGTERM to the next run, ms'],
  run: ({ pick }) => sideBySide(RIVALS, (one) => measure(one, pick(6, 1))),
};

async function measure(contestant: Contestant, stops: number): Promise<Row['cells']> {
  await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND] });
  const gaps = await times(stops, async () => {
    const leader = await replicas.freshRun();
    await delay(Math.random() * HALF_SECOND.periodMs);
    const stoppedAtMs = Date.now();
    const stopped = leader.stop();
    const { startedAtMs } = await replicas.runAfter(stoppedAtMs, leader);
    await stopped;
    await replicas.add(1);
    return startedAtMs - stoppedAtMs;
  });
  return { stops, 'SIGTERM to the next run, ms': figure(gaps) };
}
