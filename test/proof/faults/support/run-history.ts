import { setTimeout as delay } from 'node:timers/promises';
import { type JobRun } from '../../../../libs/singleton-job/src/decorators/index.js';
import { type HostileReplica, type Report } from './in-process-replica.js';
import { brokenFences, overlaps } from '../../../../tools/replicas/history.js';

/** A run in this process, by the one clock that all replicas in it share. */
export interface WitnessedRun {
  readonly job: string;
  readonly process: string;
  readonly fencingToken: number;
  readonly scheduledAt: number;
  readonly startedMs: number;
  /** Undefined while it runs. */
  readonly endedMs?: number;
}

/** How long a run takes that is let finish. */
const RUN_MS = 20;

/** The cron job of which each second is due. */
const REPORT = 'report';

/** Sees every run of all replicas of this process. */
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
    const reports = replicas.flatMap((replica) => replica.reports()).filter(({ atMs }) => atMs >= sinceMs);
    const recorded = runs.map(({ process: node, startedMs, endedMs = Infinity, ...run }) => ({
      ...run,
      node,
      startedAtMs: startedMs,
      endedAtMs: endedMs,
    }));
    return [
      ...overlaps(recorded).map((pair) => `overlap: ${JSON.stringify(pair)}`),
      ...brokenFences(recorded).map((pair) => `token-not-grown: ${JSON.stringify(pair)}`),
      ...occurrencesUnaccounted(runs, reports),
    ];
  }
}

/** Each second from the first run of the cron job to the last start or report must be started once, or reported once. */
function occurrencesUnaccounted(runs: readonly WitnessedRun[], reports: readonly Report[]): string[] {
  const starts = runs.filter(({ job }) => job === REPORT);
  const windows = reports.filter(({ job }) => job === REPORT);
  const from = Math.min(...starts.map(({ scheduledAt }) => scheduledAt));
  const upTo = Math.max(...starts.map(({ scheduledAt }) => scheduledAt), ...windows.map(({ to }) => to));
  const found: string[] = [];
  for (let at = from; at <= upTo; at += 1_000) {
    const started = starts.filter(({ scheduledAt }) => scheduledAt === at);
    const told = windows.filter((window) => window.from < at && at <= window.to);
    const accounts = [
      ...started.map(({ startedMs, process }) => ({ atMs: startedMs, words: `started by ${process}`, reason: '' })),
      ...told.map(({ atMs, process, reason }) => ({ atMs, words: `${reason} by ${process}`, reason })),
    ].sort((a, b) => a.atMs - b.atMs);
    // Redis lost its data: nobody can say. A start that is not confirmed may have begun, or have been reported.
    const definite = accounts.filter(
      ({ reason }, index) => reason !== 'state-lost' && (reason !== 'start-not-confirmed' || index === 0),
    );
    const words = `${new Date(at).toISOString()}: ${accounts.map((account) => account.words).join(', ')}`;
    if (started.length > 1) found.push(`started-twice: ${words}`);
    else if (definite.length > 1) found.push(`accounted-twice: ${words}`);
    if (accounts.length === 0) found.push(`lost-in-silence: ${words}`);
  }
  return found;
}
