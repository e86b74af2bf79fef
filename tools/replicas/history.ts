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

/** Two runs of one job of which the second began before the first had ended. */
export type Overlapping = readonly [RecordedRun, RecordedRun];

/**
 * Every two runs of a job that ran at the same time. One that begins in the millisecond in which another ends does not
 * overlap.
 */
export function overlaps(history: readonly RecordedRun[]): Overlapping[] {
  return byStart(history).flatMap((first, index, runs) =>
    runs
      .slice(index + 1)
      .filter(({ job, startedAtMs }) => job === first.job && startedAtMs < first.endedAtMs)
      .map((second): Overlapping => [first, second]),
  );
}

/**
 * Every two successive runs of a job of which the later has the smaller fencing token, or the same one on another
 * replica.
 */
export function brokenFences(history: readonly RecordedRun[]): Overlapping[] {
  return byStart(history).flatMap((later, index, runs): Overlapping[] => {
    const earlier = runs.slice(0, index).findLast(({ job }) => job === later.job);
    if (earlier === undefined || earlier.fencingToken < later.fencingToken) return [];
    const isSameTerm = later.node === earlier.node && later.fencingToken === earlier.fencingToken;
    return isSameTerm ? [] : [[earlier, later]];
  });
}

/** A line for each overlap, and for each token that did not grow, with all that is known of both runs. */
export function violations(history: readonly RecordedRun[]): string[] {
  return [
    ...overlaps(history).map((pair) => `a run began before another had ended: ${JSON.stringify(pair)}`),
    ...brokenFences(history).map((pair) => `the token did not grow: ${JSON.stringify(pair)}`),
  ];
}

function byStart(history: readonly RecordedRun[]): RecordedRun[] {
  return history.toSorted((a, b) => a.startedAtMs - b.startedAtMs || a.endedAtMs - b.endedAtMs);
}
