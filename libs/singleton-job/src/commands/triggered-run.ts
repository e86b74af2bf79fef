import { type RecordEdit } from '../leadership/record-edits.js';
import { type JobRecord, type RunRecord } from '../leadership/record.js';
import { type RunEnd } from './results.js';

/** A run that a caller in this process has triggered, until the record shows its end. */
export class TriggeredRun implements RecordEdit {
  /** As the record has shown it last. */
  #run: RunRecord | undefined;

  constructor(
    private readonly commandId: string,
    private readonly startedAt: number,
    /** Of the term that it runs in. */
    private readonly fencingToken: number,
  ) {}

  /** Whether the end is known, or will not be: a later run has taken its place, or a later leader does not know it. */
  isDone({ command, run, fencingToken = 0 }: JobRecord): boolean {
    const kept = command?.id === this.commandId ? command.run : undefined;
    const own = [run, kept].find((one) => one?.startedAt === this.startedAt);
    this.#run = own ?? this.#run;
    if (this.#run?.endedAt !== undefined || (run?.startedAt ?? 0) > this.startedAt) return true;
    // the next leader corrects a time that lies in the future after the clock of the store was set back
    return own === undefined && fencingToken > this.fencingToken;
  }

  get end(): RunEnd {
    const { endedAt, outcome = null, error = null } = this.#run ?? {};
    return { outcome, error, endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString() };
  }
}
