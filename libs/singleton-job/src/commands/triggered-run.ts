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
  ) {}

  /** Whether the end is known, or a later run has taken its place, so that it will not be. */
  isDone({ command, run }: JobRecord): boolean {
    const kept = command?.id === this.commandId ? command.run : undefined;
    this.#run = [run, kept].find((one) => one?.startedAt === this.startedAt) ?? this.#run;
    return this.#run?.endedAt !== undefined || (run?.startedAt ?? 0) > this.startedAt;
  }

  get end(): RunEnd {
    const { endedAt, outcome = null, error = null } = this.#run ?? {};
    return { outcome, error, endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString() };
  }
}
