import { isCurrent, isSettled } from '../leadership/decide.js';
import { type Edit } from '../leadership/edit.js';
import { type Election } from '../leadership/election.js';
import { type Command, type JobRecord } from '../leadership/record.js';
import { type StoreView } from '../leadership/view.js';
import { type Holder, replicaOf } from '../store/lease-id.js';
import { isAwaited } from './replies.js';

/** How the leader has answered a command. */
export interface CommandResult {
  /**
   * `paused`: the job is, so no command was written. Undefined: no replica will answer, or it is not known what became
   * of the command.
   */
  readonly outcome: string | undefined;
  /** The leader. Null: none has answered. */
  readonly by: string | null;
  readonly record: JobRecord;
}

/** What is known of an edit that steers a job, for its caller. */
export class SteeringEdit {
  /** It was sent. */
  wasSent = false;

  constructor(
    readonly election: Election,
    protected readonly view: StoreView,
    readonly id: Command['id'],
    /** What becomes of the job, for messages. */
    readonly done: 'triggered' | 'released' | 'paused' | 'resumed',
  ) {}
}

/** Asks the leader for something, and waits for its answer. */
export class CommandEdit extends SteeringEdit implements Edit<CommandResult> {
  /** The record was seen. */
  wasSeen = false;
  readonly #action = this.done === 'triggered' ? 'trigger' : 'step-down';
  /** The leader when it was written. Only its term carries it out. */
  #asked: Holder | undefined;
  /** The revision that has shown the command, or on which a write of it had no answer. */
  #sentOn: number | undefined;

  resultOf(record: JobRecord, revision: number): CommandResult | undefined {
    const { command, holder, pausedAt } = record;
    const noAnswer = { outcome: undefined, by: null, record };
    this.wasSeen = true;
    if (command?.id === this.id && this.#asked !== undefined) {
      this.#sentOn = revision;
      const { outcome } = command;
      if (outcome !== undefined) return { outcome, by: replicaOf(this.#asked), record };
      return holder === this.#asked ? undefined : noAnswer;
    }
    // it may have been carried out, and the next command has replaced it
    if (this.#sentOn !== undefined && this.#sentOn !== revision) return noAnswer;
    if (pausedAt !== undefined && this.#action === 'trigger') return { ...noAnswer, outcome: 'paused' };
    return this.#isFree(record) ? noAnswer : undefined;
  }

  /** A command waits while the caller of another one waits. */
  change(record: JobRecord, until: number): JobRecord | undefined {
    const { command, holder } = record;
    if (command !== undefined && (command.id === this.id || isAwaited(command, this.view))) return undefined;
    this.#asked = holder;
    this.wasSent = true;
    return { ...record, command: { id: this.id, action: this.#action, until } };
  }

  wasUnknown(revision: number): void {
    this.#sentOn = revision;
  }

  /** There is no leader, not even one that writes its record again after a restart of the store. */
  #isFree(record: JobRecord): boolean {
    const { election, view } = this;
    return record.holder === undefined || (isCurrent(record, view) && election.leader === undefined);
  }
}

/** Pauses a job, or ends its pause. Every replica sees that in the record, so no one is asked. */
export class PauseEdit extends SteeringEdit implements Edit<true> {
  readonly #isPause = this.done === 'paused';

  resultOf(record: JobRecord): true | undefined {
    const isDone = (record.pausedAt !== undefined) === this.#isPause && isSettled(record, this.view);
    return isDone || undefined;
  }

  change(record: JobRecord): JobRecord {
    this.wasSent = true;
    // one that was paused before a restart of the store stays so since then
    return { ...record, pausedAt: this.#isPause ? (record.pausedAt ?? this.view.storeNow()) : undefined };
  }
}
