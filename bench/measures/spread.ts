import { setTimeout as delay } from 'node:timers/promises';
import { recordedRuns } from '../../tools/replicas/recorded-runs.js';
import { type WorkerProcess } from '../../tools/replicas/worker-process.js';
import { type Contestant, rebalanced, rebalancedOnPostgres, singletonJob } from '../contestants.js';
import { type JobSpec } from '../contestants/contestant.js';
import { type Row } from '../figures.js';
import { type Measure, type Scale, sideBySide } from '../measure.js';
import { Replicas } from '../replicas.js';
import { loadOf } from '../servers.js';

const MINUTE_MS = 60_000;
const LATE_MS = 100;

export const spread: Measure = {
  name: 'spread',
  title: 'How jobs spread over replicas',
  about:
    '100 jobs of a minute, due at different times, on ten replicas that start together. Most and fewest: the jobs that the fullest and the ' +
    'emptiest replica lead. A late tick starts more than 100 ms after its slot.',
  mostlyWaits: true,
  run: (scale) => sideBySide([singletonJob, rebalanced, rebalancedOnPostgres], (one) => measure(one, scale)),
};

async function measure(contestant: Contestant, { pick }: Scale): Promise<Row['cells']> {
  const count = pick(100, 9);
  const jobs = Array.from({ length: count }, (_, index): JobSpec => {
    return { name: `job-${index}`, periodMs: MINUTE_MS, offsetMs: Math.floor((index * MINUTE_MS) / count) };
  });
  await using replicas = await Replicas.start(contestant, { jobs, count: pick(10, 3) });
  const [, { sent }] = await Promise.all([
    delay(pick(15 * MINUTE_MS, 2_000)),
    loadOf(replicas).commandsPerSecond(replicas.server.url, pick(15 * MINUTE_MS, 2_000)),
  ]);
  const led = replicas.all.map((replica) => ledBy(replica));
  const runs = replicas.all.flatMap((replica) => recordedRuns(replica));
  const late = runs.filter(({ scheduledAtMs, startedAtMs }) => startedAtMs - scheduledAtMs > LATE_MS);
  return {
    'most after 15 min': Math.max(...led),
    'fewest after 15 min': Math.min(...led),
    'hand-overs': replicas.all.reduce((sum, { events }) => sum + countOf(events, 'leadershipLost'), 0),
    'late ticks, %': runs.length === 0 ? '' : (100 * late.length) / runs.length,
    'commands per s': sent,
  };
}

function ledBy({ events }: WorkerProcess): number {
  return countOf(events, 'leadershipGained') - countOf(events, 'leadershipLost');
}

function countOf(events: WorkerProcess['events'], name: string): number {
  return events.filter(({ event }) => event === name).length;
}
