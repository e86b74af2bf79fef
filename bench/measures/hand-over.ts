import { setTimeout as delay } from 'node:timers/promises';
import { type Contestant, ELECTED } from '../contestants.js';
import { figure, type Row } from '../figures.js';
import { inTurn, type Measure, type Scale, times } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

/**
 * One contestant at a time: a hand-over takes milliseconds. With all of them at once, processes would wait as long for
 * a processor.
 */
export const handOver: Measure = {
  name: 'hand-over',
  title: 'SIGTERM of the leader',
  run: (scale) => inTurn(ELECTED, (one) => measure(one, scale)),
};

async function measure(contestant: Contestant, { pick }: Scale): Promise<Row['cells']> {
  await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND], count: pick(3, 2) });
  const stops = pick(5, 1);
  const gaps = await times(stops, async (index) => {
    const leader = await replicas.freshRun();
    await delay(Math.random() * HALF_SECOND.periodMs);
    const stoppedAtMs = Date.now();
    const stopped = leader.stop();
    const { startedAtMs } = await replicas.runAfter(stoppedAtMs, leader);
    await stopped;
    if (index + 1 < stops) await replicas.add(1);
    return startedAtMs - stoppedAtMs;
  });
  return { stops, 'SIGTERM to the next run, ms': figure(gaps) };
}
