import { setTimeout as delay } from 'node:timers/promises';
import { bareTimer, bullmq, electionPerJob, keyPerSlot, lockPerTick, schedule, singletonJob } from '../contestants.js';
import { combine, percentile, type Row } from '../figures.js';
import { type Measure, times } from '../measure.js';
import { type Replicas, type ReplicasOptions, withAll } from '../replicas.js';
import { Servers } from '../servers.js';

const PERIODS_MS = [500, 100];
const CONTESTANTS = [bareTimer, singletonJob, schedule, lockPerTick, keyPerSlot, bullmq, electionPerJob];

export const precision: Measure = {
  name: 'precision',
  title: 'Lateness of ticks, in ms',
  run: async ({ pick }) => {
    await using servers = new Servers();
    const optionsOf = (index: number): ReplicasOptions => ({
      // apart from each other, so that they do not wake for the same slot
      jobs: PERIODS_MS.flatMap((periodMs) =>
        [0, 1, 2, 3].map((quarter) => ({
          name: `every-${periodMs}-${quarter}`,
          periodMs,
          offsetMs: index * 3 + (quarter * periodMs) / 4,
        })),
      ),
      count: 1,
      reports: 'lateness',
      servers,
    });
    const rounds = await withAll(CONTESTANTS, optionsOf, async (fleets) => {
      const lateness = (): Promise<Row[]> => Promise.all(fleets.map((fleet) => latenessOf(fleet)));
      await delay(pick(5_000, 1_000));
      await lateness(); // what was late while the others started
      return times(pick(3, 1), async () => {
        await delay(pick(13_000, 2_000));
        return lateness();
      });
    });
    return combine(rounds);
  },
};

async function latenessOf({ contestant, first }: Replicas): Promise<Row> {
  const late = await first.request<Record<number, number[]>>('lateness');
  const cells = PERIODS_MS.flatMap((periodMs) => {
    const values = late[periodMs] ?? [];
    return (['p50', 'p99', 'max'] as const).map((column) => {
      const share = { p50: 0.5, p99: 0.99, max: 1 }[column];
      return [`${periodMs} ms: ${column}`, percentile(values, share)] as const;
    });
  });
  return { name: contestant.name, cells: Object.fromEntries(cells) };
}
