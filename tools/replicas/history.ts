/** One run of a job, by the clock of the machine that all its replicas run on. */
export interface RecordedRun {
  readonly job: string;
  readonly node: string;
  readonly fencingToken: number;
  /** The slot or occurrence that it ran for, in milliseconds since the epoch. */
  readonly scheduledAtMs: number;
  readonly startedAtMs: number;
  /** Infinity while it runs. */
  readonly endedAtMs: number;
}

/** Cron occurrences after `fromMs` up to `toMs` that a replica reported as not started. */
export interface Report {
  readonly job: string;
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
  readonly atMs: number;
}

/** Two runs of one job of which the second began before the first had ended. */
export type Overlapping = readonly [RecordedRun, RecordedRun];

/** Every two runs of a job that ran at the same time. One that begins in the millisecond in which another ends does not overlap. */
export function overlaps(history: readonly RecordedRun[]): Overlapping[] {
  const found: Overlapping[] = [];
  for (const runs of byJob(history)) {
    runs.forEach((first, index) => {
      for (const second of runs.slice(index + 1)) {
        if (second.startedAtMs < first.endedAtMs) found.push([first, second]);
      }
    });
  }
  return found;
}

/** Every two successive runs of a job of which the later has the smaller fencing token, or the same one on another replica. */
export function brokenFences(history: readonly RecordedRun[]): Overlapping[] {
  const found: Overlapping[] = [];
  for (const runs of byJob(history)) {
    runs.forEach((later, index) => {
      const earlier = runs[index - 1];
      if (earlier === undefined) return;
      const isSameTerm = later.node === earlier.node && later.fencingToken === earlier.fencingToken;
      if (!isSameTerm && later.fencingToken <= earlier.fencingToken) found.push([earlier, later]);
    });
  }
  return found;
}

/**
 * Every occurrence of a cron job, one of which is due every `periodMs`, that was started twice, reported twice, started and reported, or
 * neither: from its first run to its last run or report. Two reports may come beside a start: Redis lost its data (`data-lost`), and a leader
 * that was killed or lost its lease has claimed it (`interrupted`).
 */
export function unaccountedOccurrences(
  starts: readonly RecordedRun[],
  reports: readonly Report[],
  periodMs = 1_000,
): string[] {
  const fromMs = Math.min(...starts.map(({ scheduledAtMs }) => scheduledAtMs));
  const untilMs = Math.max(...starts.map(({ scheduledAtMs }) => scheduledAtMs), ...reports.map(({ toMs }) => toMs));
  const found: string[] = [];
  for (let dueMs = fromMs; dueMs <= untilMs; dueMs += periodMs) {
    const started = starts
      .filter(({ scheduledAtMs }) => scheduledAtMs === dueMs)
      .map(({ startedAtMs, node }) => ({ atMs: startedAtMs, node, how: 'started' }));
    const reported = reports
      .filter((report) => report.fromMs < dueMs && dueMs <= report.toMs)
      .map(({ atMs, node, reason }) => ({ atMs, node, how: reason }));
    const accounts = [...started, ...reported].sort((a, b) => a.atMs - b.atMs);
    const definite = accounts.filter(({ how }) => how !== 'data-lost' && how !== 'interrupted');
    const words = `${new Date(dueMs).toISOString()}: ${accounts.map(({ how, node }) => `${how} by ${node}`).join(', ')}`;
    if (started.length > 1) found.push(`started-twice: ${words}`);
    else if (definite.length > 1) found.push(`accounted-twice: ${words}`);
    if (accounts.length === 0) found.push(`neither started nor reported: ${words}`);
  }
  return found;
}

/** The payload of `occurrencesMissed`, `runInterrupted` or `tickDropped`, as an observer gets it or as JSON. */
interface ReportPayload {
  readonly job?: string;
  readonly from?: Date | string;
  readonly to?: Date | string;
  readonly startedAt?: Date | string;
  readonly scheduledAt?: Date | string;
  readonly count?: number;
  readonly reason?: string;
}

/** What an event reports of a cron job of which one occurrence is due every `periodMs`; nothing for most events. */
export function reportsIn(
  event: string,
  payload: object,
  at: { node: string; atMs: number },
  periodMs = 1_000,
): Report[] {
  const { job = '', reason = '', count = 1, from, to, startedAt, scheduledAt } = payload as ReportPayload;
  const ms = (date: Date | string = ''): number => new Date(date).getTime();
  if (event === 'occurrencesMissed') {
    return [{ ...at, job, reason, fromMs: ms(from), toMs: ms(to) }];
  }
  if (event === 'runInterrupted') {
    // it was claimed up to half a period before it was due, by the clock of the store, or up to a period after that
    const toMs = ms(startedAt) + periodMs / 2;
    return [{ ...at, job, reason: 'interrupted', fromMs: toMs - 2 * periodMs, toMs }];
  }
  if (event !== 'tickDropped') return [];
  // a drop of several ticks names the newest one
  const toMs = ms(scheduledAt);
  return [{ ...at, job, reason, fromMs: toMs - count * periodMs, toMs }];
}

/** The runs of each job in the order of their starts. */
function byJob(history: readonly RecordedRun[]): RecordedRun[][] {
  const jobs = new Set(history.map(({ job }) => job));
  return [...jobs].map((job) =>
    history.filter((run) => run.job === job).sort((a, b) => a.startedAtMs - b.startedAtMs || a.endedAtMs - b.endedAtMs),
  );
}
