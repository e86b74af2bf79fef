import { overlaps } from '../../tools/replicas/history.js';
import { type WorkerProcess } from '../../tools/replicas/worker-process.js';
import { type Contestant, ELECTED, electionPerJob, onPostgresShort, singletonJobShort } from '../contestants.js';
import { figure, percentile, type Row } from '../figures.js';
import { type Measure, type Scale, sideBySide, times } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

export const failover: Measure = {
  name: 'failover',
  title: 'SIGKILL of the leader in mid-run',
  run: (scale) =>
    sideBySide(ELECTED, (one) =>
      afterEnds(one, scale, { word: 'kill', ends: killsOf(one, scale), end: (victim) => victim.kill() }),
    ),
};

function killsOf(contestant: Contestant, { pick }: Scale): number {
  if (contestant === singletonJobShort || contestant === onPostgresShort) return pick(100, 3);
  return pick(contestant === electionPerJob ? 3 : 30, 1);
}

interface Ends {
  /** What ends the processes. */
  readonly word: string;
  /** How many of them. */
  readonly ends: number;
  /** Resolves when the process has ended. */
  readonly end: (victim: WorkerProcess) => Promise<unknown>;
}

/** Ends one leader in mid-run after the other, and measures when another replica leads and runs the job. */
export async function afterEnds(
  contestant: Contestant,
  scale: Scale,
  { word, ends, end }: Ends,
): Promise<Row['cells']> {
  await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND], count: scale.pick(3, 2) });
  const leads: number[] = [];
  const runs = await times(ends, async (index) => {
    const victim = await replicas.freshRun();
    const endedAtMs = Date.now();
    await end(victim);
    const { startedAtMs } = await replicas.runAfter(endedAtMs, victim);
    const gained = replicas.all
      .flatMap(({ events }) => events)
      .find(({ event, atMs }) => event === 'leadershipGained' && atMs > endedAtMs);
    if (gained !== undefined) leads.push(gained.atMs - endedAtMs);
    if (index + 1 < ends) await replicas.add(1);
    return startedAtMs - endedAtMs;
  });
  return {
    [`${word}s`]: ends,
    [`${word} to the next leader, ms`]: figure(leads),
    [`${word} to the next leader, 99 %`]: percentile(leads, 0.99),
    [`${word} to the next run, ms`]: figure(runs),
    [`overlapping runs (${word}s)`]: overlaps(replicas.runs).length,
  };
}
