/** One run, as plain data. */
export interface RunInfo {
  /** Name of the job. */
  readonly job: string;
  /** The kind of its schedule: `@FixedRate`, `@Interval`, `@Cron`, `@WhileLeader` or `@Once`. */
  readonly kind: 'fixed-rate' | 'interval' | 'cron' | 'while-leader' | 'once';
  /**
   * Why the run was started: its schedule, an occurrence that no replica started in time, a call of the registry, or
   * the option `firstRun` or `@Once`.
   */
  readonly cause: 'schedule' | 'misfire' | 'trigger' | 'first-run';
  /** The slot or the occurrence, not the time the run began. For another run: when it was due. */
  readonly scheduledAt: Date;
  /** When the run began, by the wall clock of this replica. */
  readonly startedAt: Date;
  /** Larger than that of every run under an earlier leader of the job. */
  readonly fencingToken: number;
}

/** The kind of a schedule. */
export type ScheduleKind = RunInfo['kind'];
