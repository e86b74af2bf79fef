import { setTimeout as delay } from 'node:timers/promises';
import { type WorkerProcess } from '../replicas/worker-process.js';
import { type Job, JOBS } from '../replicas/workers.js';
import { NODES, type Replicas } from './replicas.js';
import { crashesIn } from './summary.js';
import { type Timeline } from './timeline.js';

/** Each part lasts at least this long, so that there is something to see. */
const PART_MS = 3_000;

/** A run of price-tick that is so old is slow and takes 1.2 s: ticks were dropped, and it continues for a moment. */
const SLOW_MS = [600, 1_000] as const;

/** Long enough to see a hand-over before the replica is back. */
const RESTART_AFTER_MS = 4_000;

interface ScenarioOptions {
  readonly replicas: Replicas;
  readonly timeline: Timeline;
  readonly signal: AbortSignal;
}

/** Starts three replicas, stops the leader of price-tick, and kills the next one. Rejects when the signal is aborted. */
export async function playScenario({ replicas, timeline, signal }: ScenarioOptions): Promise<void> {
  const until = (what: string, holds: () => boolean): Promise<void> =>
    replicas.workers.until(what, () => {
      signal.throwIfAborted();
      const [crash] = crashesIn(replicas.events);
      if (crash === undefined) return holds();
      const printed = replicas.workers.all.flatMap(({ node, lines }) => lines.map(({ text }) => `${node} ${text}`));
      throw new Error([crash, ...printed.slice(-20)].join('\n'));
    });
  const untilEachJobRuns = (since?: WorkerProcess): Promise<void> => {
    const partEndsAtMs = Date.now() + PART_MS;
    const runsAgain = (job: Job): boolean =>
      replicas.workers.runs(job).some(({ startedAtMs }) => startedAtMs > (since?.exitedAtMs ?? 0));
    return until('each job runs', () => Date.now() > partEndsAtMs && JOBS.every(runsAgain));
  };
  const leaderInSlowRun = async (): Promise<WorkerProcess> => {
    let leader = '';
    await until('price-tick has a slow run', () => {
      const { node = '', startedAtMs = 0, endedAtMs = 0 } = replicas.workers.runs('price-tick').at(-1) ?? {};
      const ageMs = Date.now() - startedAtMs;
      leader = node;
      return endedAtMs === Infinity && ageMs > SLOW_MS[0] && ageMs < SLOW_MS[1];
    });
    return replicas.find(leader);
  };

  timeline.announce('1  Three replicas start: one of them leads each job, the others follow');
  for (const node of NODES) replicas.start(node);
  await until('all replicas are ready', () => replicas.workers.all.every(({ isReady }) => isReady));
  await untilEachJobRuns();

  const first = await leaderInSlowRun();
  timeline.announce(`2  ${first.node} is stopped in the middle of a slow run: it ends the run, then hands over`);
  replicas.stop(first);
  await untilEachJobRuns(first);

  const second = await leaderInSlowRun();
  timeline.announce(`3  ${second.node} is killed in the middle of a run: when its session has ended, others lead`);
  replicas.kill(second);
  await untilEachJobRuns(second);
}

/** Restarts each replica a moment after it exited, as an orchestrator does. Resolves when the signal is aborted. */
export async function watch({ replicas, timeline, signal }: ScenarioOptions): Promise<void> {
  const printCommands = ({ node, pid }: WorkerProcess): void => {
    timeline.note(` ${node}   stop it: kill ${pid}   kill it: kill -9 ${pid}`);
  };
  timeline.announce('4  Your turn: Ctrl-C ends the demo');
  replicas.workers.running.forEach(printCommands);
  while (!signal.aborted) {
    for (const node of NODES) {
      const { exitedAtMs } = replicas.find(node);
      if (exitedAtMs < Date.now() - RESTART_AFTER_MS) printCommands(replicas.start(node));
    }
    await delay(100);
  }
}
