import { type JobRun } from '../decorators/index.js';
import { type Overlap } from '../options/index.js';
import { type AnySchedule } from '../schedule/index.js';

/** One job, found, checked and resolved: everything that electing a leader for it and running it takes. */
export interface JobDefinition {
  /** Its name in keys, logs and overrides: protocol between replicas. */
  readonly name: string;
  /** `Class.method`, or `register('name')`, for messages. */
  readonly location: string;
  readonly schedule: AnySchedule;
  readonly enabled: boolean;
  readonly lockExpiryMs: number;
  /** Aborts the signal of a run that takes longer; undefined: never. */
  readonly timeoutMs: number | undefined;
  /** Reports a run that takes longer as slow; undefined: never. */
  readonly warnAfterMs: number | undefined;
  readonly overlap: Overlap;
  /** From the start of this replica until it competes for the job. */
  readonly initialDelayMs: number;
  /** How late a cron occurrence may still start. */
  readonly misfireGraceMs: number;
  /** Calls the method. */
  invoke(run: JobRun): unknown;
}
