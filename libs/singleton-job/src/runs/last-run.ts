import { type Backlog } from '../leadership/watermarks.js';
import { type Holder, holderName } from '../store/lock-store.js';

/** What is known of a run, for other replicas. */
export interface RunRecord {
  /** When it began, by the wall clock of its replica, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** When it ended. Undefined: it has not. */
  endedAt: number | undefined;
  outcome: 'succeeded' | 'failed' | 'cancelled' | undefined;
  /** The message of the error of a failed run. */
  error: string | undefined;
  /** How many runs in a row before this one ended with a crash of their process. Undefined: none. */
  readonly crashes?: number | undefined;
}

/** The last run of a job, as the store has it. One record is no history. */
export interface RecordedRun extends Readonly<RunRecord> {
  /** `nodeId` with its random part. */
  readonly by: string;
  /** When it was recorded, by the wall clock of its replica. */
  readonly recordedAt: number;
}

/** Which run it is, and when it was recorded. */
export interface RunOrigin {
  readonly holder: Holder;
  /** The fencing token of its term. */
  readonly token: number;
  /** Grows with each run of a replica. */
  readonly number: number;
  readonly recordedAt: number;
}

/** The record of a run that begins. */
export function newRecord(startedAt: number, crashes?: number): RunRecord {
  return { startedAt, endedAt: undefined, outcome: undefined, error: undefined, crashes };
}

const MOST_OF_ERROR = 200;
const TOKEN_DIGITS = 16;
const ORDER_DIGITS = 10;

/**
 * A record begins with digits, by which the store keeps the newest one: the fencing token, then the number of the run, then whether it has
 * ended.
 */
export function writeLastRun(run: RunRecord, { holder, token, number, recordedAt }: RunOrigin): string {
  const order = 2 * number + (run.endedAt === undefined ? 0 : 1);
  const digits = `${String(token).padStart(TOKEN_DIGITS, '0')}${String(order).padStart(ORDER_DIGITS, '0')}`;
  const error = run.error?.slice(0, MOST_OF_ERROR);
  return `${digits} ${JSON.stringify({ ...run, error, by: holderName(holder), recordedAt })}`;
}

/** Undefined: there is none, or another program wrote the field. */
export function readLastRun(text: string | undefined): RecordedRun | undefined {
  const [, json = ''] = /^\d+ (.*)$/s.exec(text ?? '') ?? [];
  try {
    const run = JSON.parse(json) as Partial<RecordedRun>;
    const { startedAt, endedAt, outcome, error, by, crashes, recordedAt } = run;
    if (startedAt === undefined || by === undefined || recordedAt === undefined) return undefined;
    return { startedAt, endedAt, outcome, error, by, crashes, recordedAt };
  } catch {
    return undefined;
  }
}

/** A run that lasted so long is not the cause of what ended it. */
export const HEALTHY_RUN_MS = 30_000;

/** How many leaders in a row crashed, as far as a run may be the cause. 0: the last one did not crash. */
export function crashesBefore({ crashedReplica, lastRun }: Backlog): number {
  if (crashedReplica === undefined) return 0;
  const run = readLastRun(lastRun);
  // the record of its last run may not have reached the store: then this is the first crash, or an earlier run is recorded
  const isInFlight = run?.by === crashedReplica && run.endedAt === undefined;
  return isInFlight && run.recordedAt - run.startedAt < HEALTHY_RUN_MS ? (run.crashes ?? 0) + 1 : 1;
}
