/** One run of a job, by the clock of the machine that all its replicas run on. */
export interface RecordedRun {
  readonly job: string;
  readonly node: string;
  readonly fencingToken: number;
  readonly startedAtMs: number;
  /** Infinity while it runs. */
  readonly endedAtMs: number;
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

/** The runs of each job in the order of their starts. */
function byJob(history: readonly RecordedRun[]): RecordedRun[][] {
  const jobs = new Set(history.map(({ job }) => job));
  return [...jobs].map((job) =>
    history.filter((run) => run.job === job).sort((a, b) => a.startedAtMs - b.startedAtMs || a.endedAtMs - b.endedAtMs),
  );
}
