import { type CronOptions } from '../options/job.options.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { type JobRun } from './job-run.js';

/** A checked job with all its options: everything that its election and its runner need. */
export interface Job {
  /** Its name in keys, logs and overrides. The same on all replicas. */
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
  readonly overlap: NonNullable<CronOptions['overlap']>;
  /** How long this replica waits after its start until it competes for the job. */
  readonly initialDelayMs: number;
  /** Whether it runs once when its first leader begins. */
  readonly firstRun?: CronOptions['firstRun'];
  /** It also does so once for each new value of this. */
  readonly version?: string | undefined;
  /** Whether a cron occurrence runs. */
  readonly only?: CronOptions['only'];
  /** How late a cron occurrence may still start. */
  readonly misfireGraceMs: number;
  /** Calls the method. */
  readonly invoke: (run: JobRun) => unknown;
}
