import { setTimeout as delay } from 'node:timers/promises';
import { bareTimer, bullmq, electionPerJob, keyPerSlot, lockPerTick, schedule, singletonJob } from '../contestants.js';
import { combine, medianOf, type Row } from '../figures.js';
import { type Measure, SETTLED_MS, times } from '../measure.js';
import { manyJobs, withAll } from '../replicas.js';
import { Servers } from '../servers.js';
import { cpuOf } from '../usage.js';

/** Three processes of each: what V8 makes of one differs by half from the next. The others would fill the machine. */
const CHEAP = [bareTimer, singletonJob, schedule, electionPerJob];
const CONTESTANTS = [...CHEAP, lockPerTick, keyPerSlot, bullmq, ...CHEAP, ...CHEAP];
const PERIOD_MS = 100;
const NEVER_MS = 3_600_000;
const NOTHING = { perSecond: NaN, runs: NaN };

export const costOfRun: Measure = {
  name: 'cost-run',
  title: 'CPU time of an empty run',
  run: async ({ pick }) => {
    await using servers = new Servers();
    const started = (periodMs: number) =>
      ({ jobs: manyJobs(100, periodMs), count: 1, reports: 'nothing', servers }) as const;
    const rounds = await withAll(
      [...CONTESTANTS, ...CONTESTANTS],
      (index) => started(index < CONTESTANTS.length ? PERIOD_MS : NEVER_MS),
      async (all) => {
        await delay(pick(SETTLED_MS, 500));
        return times(pick(5, 1), async () => {
          const used = await Promise.all(all.map(({ first }) => cpuOf(first, pick(4_000, 1_000))));
          return CONTESTANTS.map(({ name }, index) => rowOf(name, used[index], used[index + CONTESTANTS.length]));
        });
      },
    );
    return combine(rounds).map(shared);
  },
};

function rowOf(name: string, busy = NOTHING, idle = NOTHING): Row {
  const cells = { 'runs per s': busy.runs, 'CPU, ms per s': busy.perSecond, 'idle, ms per s': idle.perSecond };
  return { name, cells };
}

/** By the medians: a collection of garbage in one window is no cost of a run. */
function shared({ name, cells }: Row): Row {
  const busyMs = medianOf(cells['CPU, ms per s']) - medianOf(cells['idle, ms per s']);
  return { name, cells: { ...cells, 'CPU per run, µs': (busyMs / medianOf(cells['runs per s'])) * 1_000 } };
}
