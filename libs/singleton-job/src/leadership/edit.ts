import { type JobRecord } from './record.js';

/** How long a caller waits for the effect of a command. */
export const COMMAND_MS = 2_000;

/**
 * A write of a caller in this process: a pause, a resume or a command. It looks at the record until that shows the result, and writes what is
 * missing. So a lost answer, a conflict and an answer of the leader are the same to it: another look.
 */
export interface Edit<T> {
  /** The result, as soon as the record shows it. */
  resultOf(record: JobRecord, revision: number): T | undefined;
  /** What to write: it leaves now. Undefined: nothing, the leader is to answer. By the clock of the store, a write is not carried out after `until`. */
  change(record: JobRecord, until: number): JobRecord | undefined;
  /** Its write on this revision had no answer. */
  wasUnknown?(revision: number): void;
}

/** An edit under way. */
export interface OpenEdit {
  readonly edit: Edit<unknown>;
  readonly settle: (result: unknown) => void;
  /** It looks at the record again then, also without a hint, and gives up at last. By the monotonic clock. */
  lookAt: number;
  readonly giveUpAt: number;
}
