import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../tools/workspace/command.js';
import { type Fleet, leaderIn, timesToLead, untilLed } from '../contestants/time-to-lead.js';
import { type Contestant, onPostgres, singletonJob } from '../contestants.js';
import { figure, type Row } from '../figures.js';
import { growthPicture } from '../growth-picture.js';
import { type Measure, type Scale } from '../measure.js';
import { manyJobs, Replicas } from '../replicas.js';
import { LOADS, serverLoad } from '../server-load.js';
import { cpuOf } from '../usage.js';

const SIMULATED = new URL('../dist/simulated.js', import.meta.url).pathname;

const OF_SERVER = ['commands per s', 'kB per s to the server', 'kB per s from the server', 'server CPU, ms per s'];

/** Each number of jobs with each number of replicas. */
interface Sizes {
  readonly jobs: readonly number[];
  readonly counts: readonly number[];
  /** @default 500 */
  readonly periodMs?: number;
}

export const growth: Measure = {
  name: 'growth',
  title: 'How the library grows, by jobs × replicas',
  run: async (scale) => {
    const jobs = scale.pick([10, 100, 1_000], [10, 50]);
    const counts = scale.pick([3, 10], [2, 3]);
    const rows: Row[] = [];
    for (const on of [singletonJob, onPostgres]) rows.push(...(await real(on, { jobs, counts }, scale)));
    // after the others, which it would slow down
    const many = { jobs: scale.pick([10_000], [100]), counts: [3], periodMs: 10_000 };
    rows.push(...(await real(singletonJob, many, scale)));
    // as processes so many would wait for each other
    for (const one of jobs) rows.push(await simulated(one, scale));
    return rows;
  },
  picture: growthPicture,
};

/** One cold start after the other, and then all at once: they mostly wait. */
async function real(on: Contestant, { jobs, counts, periodMs }: Sizes, scale: Scale): Promise<Row[]> {
  const all: Replicas[] = [];
  try {
    const rows: (() => Promise<Row>)[] = [];
    for (const count of counts) {
      for (const one of jobs) {
        const options = { jobs: manyJobs(one, periodMs), count, reports: 'nothing', atOnce: true } as const;
        const replicas = await Replicas.start(on, options);
        all.push(replicas);
        const readyAtMs = Math.min(...replicas.all.flatMap(({ events }) => events.map(({ atMs }) => atMs)));
        const fleet = fleetOf(replicas, one);
        const coldMs = await untilLed(fleet, readyAtMs);
        const period = periodMs === undefined ? '' : `, of ${periodMs / 1_000} s`;
        const name = `${one} × ${count}${period}${on === onPostgres ? ', PostgreSQL' : ''}`;
        rows.push(async () => ({ name, cells: await cellsOf(replicas, fleet, coldMs, scale) }));
      }
    }
    return await Promise.all(rows.map((row) => row()));
  } finally {
    for (const replicas of all) await replicas[Symbol.asyncDispose]();
  }
}

async function cellsOf(replicas: Replicas, fleet: Fleet, coldMs: number, scale: Scale): Promise<Row['cells']> {
  const load = await serverLoad(replicas, scale);
  const leader = await leaderIn(fleet);
  const cpu = async (leads: boolean): Promise<number> => {
    const one = replicas.all.find(({ node }) => (node === leader) === leads) ?? replicas.last;
    return (await cpuOf(one, scale.pick(20_000, 1_500))).perSecond;
  };
  const [ofLeader, ofFollower] = await Promise.all([cpu(true), cpu(false)]);
  return {
    ...Object.fromEntries(OF_SERVER.map((column) => [column, load[column] ?? ''])),
    'leader CPU, ms per s': ofLeader,
    'follower CPU, ms per s': ofFollower,
    'CPU of each, ms per s': '',
    ...figures(await timesToLead(fleet, coldMs, scale.pick(3, 1))),
  };
}

async function simulated(jobs: number, { pick }: Scale): Promise<Row> {
  const count = pick(50, 5);
  const args = [jobs, count, pick(30_000, 3_000), pick(3, 1)].map(String);
  const printed = await run(process.execPath, [SIMULATED, ...args]);
  return { name: `${jobs} × ${count}, simulated`, cells: figures(JSON.parse(printed) as Record<string, number[]>) };
}

function figures(all: Readonly<Record<string, readonly number[]>>): Row['cells'] {
  return Object.fromEntries(Object.entries(all).map(([column, values]) => [column, figure(values)]));
}

function fleetOf(replicas: Replicas, jobs: number): Fleet {
  const { contestant, server } = replicas;
  return {
    jobs,
    now: Date.now,
    sleep: delay,
    stored: () => LOADS[contestant.server].stored(server.url),
    kill: (leader) => replicas.all.find(({ node }) => node === leader)?.kill(),
    add: () => replicas.add(1),
    restart: () => server.restart(),
  };
}
