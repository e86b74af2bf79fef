import { setTimeout as delay } from 'node:timers/promises';
import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { check, type WitnessedReport, type WitnessedRun } from './checker.js';
import { type HostileReplica } from './hostile-replica.js';

/** How long a run takes that is let finish. */
const RUN_MS = 20;

/** The cron job of which each second is due. */
const REPORT = 'report';

/** Sees every run of all replicas of this process, by the one clock that they share. */
export class HostileWitness {
  readonly runs: WitnessedRun[] = [];

  /** A run that stops at once when it is told to. */
  async run(node: string, { job, fencingToken, scheduledAt, signal }: JobRun): Promise<void> {
    const begun = {
      job,
      process: node,
      fencingToken,
      scheduledAt: scheduledAt.getTime(),
      startedMs: performance.now(),
    };
    const index = this.runs.push(begun) - 1;
    try {
      await delay(RUN_MS, undefined, { signal });
    } finally {
      this.runs[index] = { ...begun, endedMs: performance.now() };
    }
  }

  /** The broken promises of runs of some replicas that started after a moment; none, if all is well. */
  violations(replicas: readonly HostileReplica[], sinceMs: number): string[] {
    const nodes = new Set(replicas.map(({ node }) => node));
    const runs = this.runs.filter(({ process, startedMs }) => nodes.has(process) && startedMs >= sinceMs);
    const reports = replicas.flatMap((replica) => replica.reports()).filter(({ atMs = Infinity }) => atMs >= sinceMs);
    const found = check({ runs, reports, due: dueBetween(runs, reports) });
    return [...found.map(({ rule, evidence }) => `${rule}: ${evidence}`), ...sharedTokens(runs)];
  }
}

/** Each second from the first run of the cron job to its last, or to the end of what was reported. */
function dueBetween(runs: readonly WitnessedRun[], reports: readonly WitnessedReport[]): Map<string, number[]> {
  const seen = runs.filter(({ job }) => job === REPORT).map(({ scheduledAt }) => scheduledAt);
  const last = Math.max(...seen, ...reports.filter(({ job }) => job === REPORT).map(({ to }) => to));
  const due: number[] = [];
  for (let at = Math.min(...seen); at <= last; at += 1_000) due.push(at);
  return new Map([[REPORT, due]]);
}

/** A fencing token that two replicas ran with fences nobody. */
function sharedTokens(runs: readonly WitnessedRun[]): string[] {
  const owners = new Map<string, Set<string>>();
  for (const { job, fencingToken, process: node } of runs) {
    const key = `${job} with token ${String(fencingToken)}`;
    owners.set(key, (owners.get(key) ?? new Set()).add(node));
  }
  return [...owners].filter(([, nodes]) => nodes.size > 1).map(([key]) => `shared-token: ${key}`);
}
