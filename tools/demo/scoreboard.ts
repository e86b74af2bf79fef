import { type JobOnStage } from './cast.js';
import { dispatch, type Fact, inOrder } from './facts.js';

export interface JobScore {
  readonly job: string;
  /** Replicas in the order in which they led. */
  readonly leaders: readonly string[];
  /** How long each hand-over took, in milliseconds. */
  readonly graceful: readonly number[];
  readonly kills: readonly number[];
  readonly runs: number;
  readonly dropped: number;
  /** Runs that began before an earlier one had ended. */
  readonly overlapping: number;
}

/** A run from its start to its end, which is Infinity while it runs. */
interface Span {
  readonly pid: number;
  readonly fromMs: number;
  toMs: number;
}

/** What the demo saw of each job. */
export function score(facts: readonly Fact[], jobs: readonly JobOnStage[]): readonly JobScore[] {
  return jobs.map(({ name }) => scoreOf(inOrder(facts), name));
}

function scoreOf(facts: readonly Fact[], job: string): JobScore {
  const [leaders, graceful, kills]: [string[], number[], number[]] = [[], [], []];
  const runs: Span[] = [];
  let dropped = 0;
  let leader: number | undefined;
  const stoppedMs = new Map<number, number>();
  const endedMs = new Map<number, number>();

  const endRun = (pid: number, atMs: number): void => {
    for (const run of runs) if (run.pid === pid) run.toMs = Math.min(run.toMs, atMs);
  };
  /** From the stop, or the end of the run that it waited for; after a kill from the end of the process. */
  const addHandOver = (from: number, atMs: number): void => {
    const [stopMs, endMs] = [stoppedMs.get(from), endedMs.get(from)];
    const lastRunMs = Math.max(
      0,
      ...runs.filter((run) => run.pid === from && run.toMs <= atMs).map(({ toMs }) => toMs),
    );
    if (stopMs !== undefined) graceful.push(atMs - Math.max(stopMs, lastRunMs));
    else if (endMs !== undefined) kills.push(atMs - endMs);
  };

  for (const fact of facts) {
    const { pid, replica, atMs } = fact;
    if ('payload' in fact && 'job' in fact.payload && fact.payload.job !== job) continue;
    dispatch(fact, {
      processStopping: () => stoppedMs.set(pid, atMs),
      processEnded: () => {
        endedMs.set(pid, atMs);
        endRun(pid, atMs);
      },
      leadershipGained: () => {
        if (leader !== undefined) addHandOver(leader, atMs);
        leader = pid;
        leaders.push(replica);
      },
      runStarted: () => runs.push({ pid, fromMs: atMs, toMs: Infinity }),
      runSucceeded: () => {
        endRun(pid, atMs);
      },
      runFailed: () => {
        endRun(pid, atMs);
      },
      runCancelled: () => {
        endRun(pid, atMs);
      },
      tickDropped: ({ payload }) => (dropped += payload.count),
    });
  }
  const overlapping = runs.filter(({ fromMs }, index) => runs.slice(0, index).some(({ toMs }) => toMs > fromMs)).length;
  return { job, leaders, graceful, kills, runs: runs.length, dropped, overlapping };
}
