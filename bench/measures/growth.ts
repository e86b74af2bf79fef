import { type Contestant, onPostgres, singletonJob } from '../contestants.js';
import { type Row } from '../figures.js';
import { type Measure, repeat, type Scale } from '../measure.js';
import { manyJobs, Replicas } from '../replicas.js';
import { serverLoad } from '../server-load.js';
import { cpuOf, usageOf } from '../usage.js';

type Size = readonly [jobs: number, replicas: number, on?: Contestant];

/** What is measured at once: large ones beside small ones. */
const GROUPS: readonly (readonly Size[])[] = [
  [
    [2_000, 3],
    [10, 3],
    [1, 3],
    [100, 6],
  ],
  [
    [1, 3, onPostgres],
    [100, 3, onPostgres],
    [100, 12, onPostgres],
    [1_000, 3, onPostgres],
  ],
  [
    [1_000, 3],
    [500, 3],
    [100, 3],
    [100, 12],
  ],
];
const QUICK_GROUPS: typeof GROUPS = [
  [
    [10, 2],
    [50, 3],
    [50, 3, onPostgres],
  ],
];

export const growth: Measure = {
  name: 'growth',
  title: 'How the library grows, by jobs × replicas',
  run: async (scale) => {
    const rows: Row[] = [];
    for (const group of scale.pick(GROUPS, QUICK_GROUPS)) {
      rows.push(...(await Promise.all(group.map((size) => measure(size, scale)))));
    }
    return rows.toSorted((a, b) => order(a) - order(b));
  },
};

async function measure([jobs, count, on = singletonJob]: Size, scale: Scale): Promise<Row> {
  await using replicas = await Replicas.start(on, { jobs: manyJobs(jobs), count, reports: 'nothing' });
  const load = await serverLoad(replicas, scale);
  const cells = await repeat(2, () => usageIn(replicas, scale.pick(10_000, 1_500)));
  const where = on === singletonJob ? '' : ', PostgreSQL';
  return { name: `${jobs} × ${count}${where}`, cells: { ...cells, ...load } };
}

async function usageIn({ first, last }: Replicas, windowMs: number): Promise<Row['cells']> {
  const [leader, follower] = await Promise.all([cpuOf(first, windowMs), cpuOf(last, windowMs)]);
  return {
    'leader CPU, ms per s': leader.perSecond,
    'follower CPU, ms per s': follower.perSecond,
    'leader RSS, MB': (await usageOf(first)).rssMb,
    'follower RSS, MB': (await usageOf(last)).rssMb,
  };
}

/** By the number of replicas, then of jobs. */
function order({ name }: Row): number {
  const [jobs = 0, count = 0] = (name.match(/\d+/g) ?? []).map(Number);
  return count * 10_000 + jobs;
}
