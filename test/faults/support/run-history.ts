import { setTimeout as delay } from 'node:timers/promises';
import { type JobRun } from '../../../libs/singleton-job/src/jobs/job-run.js';
import { brokenFences, overlaps, type RecordedRun } from '../../../tools/replicas/history.js';
import { unaccountedOccurrences } from '../../support/occurrences.js';
import { type InProcessReplica } from './in-process-replica.js';

/** The duration of a run that is not aborted. */
const RUN_MS = 20;

/** The cron job, which is due every second. */
const REPORT = 'report';

/** Every run of all replicas of this process. They share one clock. */
export class RunHistory {
  readonly runs: RecordedRun[] = [];

  /** A run that stops at once when its signal fires. */
  async run(node: string, { job, fencingToken, scheduledAt, signal }: JobRun): Promise<void> {
    const startedAtMs = performance.now();
    const begun = { job, node, fencingToken, scheduledAtMs: scheduledAt.getTime(), startedAtMs, endedAtMs: Infinity };
    const index = this.runs.push(begun) - 1;
    try {
      await delay(RUN_MS, undefined, { signal });
    } finally {
      this.runs[index] = { ...begun, endedAtMs: performance.now() };
    }
  }

  /** The broken promises of runs of some replicas that started after a moment. */
  violations(replicas: readonly InProcessReplica[], sinceMs: number): string[] {
    const nodes = new Set(replicas.map(({ node }) => node));
    const runs = this.runs.filter(({ node, startedAtMs }) => nodes.has(node) && startedAtMs >= sinceMs);
    const reports = replicas.flatMap((replica) => replica.reports()).filter(({ atMs }) => atMs >= sinceMs);
    return [
      ...overlaps(runs).map((pair) => `overlap: ${JSON.stringify(pair)}`),
      ...brokenFences(runs).map((pair) => `token-not-grown: ${JSON.stringify(pair)}`),
      ...unaccountedOccurrences(
        runs.filter(({ job }) => job === REPORT),
        reports.filter(({ job }) => job === REPORT),
      ),
    ];
  }
}
