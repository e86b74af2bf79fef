import { isOfNow, isSettled } from '../leadership/decide.js';
import { type Edit } from '../leadership/edit.js';
import { type Election } from '../leadership/election.js';
import { type Holder, replicaOf } from '../store/lease-id.js';
import { type Command, type JobRecord } from '../leadership/record.js';
import { type View } from '../leadership/view.js';

/** How the leader has answered a command. */
export interface Answer {
  /**
   * `paused`: the job is, so no command was written. Undefined: no replica will answer, or it is not known what became
   * of the command.
   */
  readonly outcome: string | undefined;
  /** The leader. Null: none has answered. */
  readonly by: string | null;
  readonly record: JobRecord;
}

/** An edit that a caller must know to be stored. */
export interface StoredEdit<T> extends Edit<T> {
  readonly election: Election;
  /** What became of the job, for messages. */
  readonly done: string;
  /** The record has shown it. */
  readonly isStored: boolean;
  readonly wasSent: boolean;
}

/**
 * Asks the leader for something, and waits for its answer. A pause is one too: it also stores the pause, and the answer
 * only says which leader has seen it.
 */
export class CommandEdit implements StoredEdit<Answer> {
  /** The record was seen. */
  wasSeen = false;
  /** The record has shown the pause. */
  isStored = false;
  /** The command was sent, or the pause. */
  wasSent = false;
  /** The leader when it was written. Only its term carries it out. */
  #asked: Holder | undefined;
  #isWritten = false;
  #unknownOn: number | undefined;

  constructor(
    readonly election: Election,
    private readonly view: View,
    readonly command: Pick<Command, 'id' | 'action'>,
    readonly done: 'triggered' | 'released' | 'paused',
  ) {}

  resultOf(record: JobRecord, revision: number): Answer | undefined {
    const { command, holder, pausedAt } = record;
    const noAnswer = { outcome: undefined, by: null, record };
    this.wasSeen = true;
    this.isStored ||= pausedAt !== undefined && isSettled(record, this.view);
    if (this.#isPause && !this.isStored) return undefined;
    if (command?.id === this.command.id && this.#asked !== undefined) {
      this.#isWritten = true;
      const { outcome } = command;
      if (outcome !== undefined) return { outcome, by: replicaOf(this.#asked), record };
      return holder === this.#asked ? undefined : noAnswer;
    }
    // it may have been carried out, and the next command has replaced it
    if (this.#isWritten || (this.#unknownOn !== undefined && this.#unknownOn !== revision)) return noAnswer;
    if (pausedAt !== undefined && this.command.action === 'trigger') return { ...noAnswer, outcome: 'paused' };
    return this.#isFree(record) ? noAnswer : undefined;
  }

  /** A command waits while that of another caller is open. */
  change(record: JobRecord, until: number): JobRecord | undefined {
    const { command, holder } = record;
    const storeNow = this.view.storeNow();
    const mustPause = this.#isPause && !this.isStored;
    // one that was paused before a restart of the store stays so since then
    const changed = mustPause ? { ...record, pausedAt: record.pausedAt ?? storeNow } : record;
    const isOpen = command?.outcome === undefined && storeNow < (command?.until ?? 0);
    const isAsking = !this.#isWritten && !isOpen && !(this.#isPause && this.#isFree(record));
    this.wasSent ||= isAsking || mustPause;
    if (!isAsking) return mustPause ? changed : undefined;
    this.#asked = holder;
    return { ...changed, command: { ...this.command, until } };
  }

  wasUnknown(revision: number): void {
    this.#unknownOn = revision;
  }

  get #isPause(): boolean {
    return this.done === 'paused';
  }

  /** There is no leader, not even one that writes its record again after a restart of the store. */
  #isFree(record: JobRecord): boolean {
    const { election, view } = this;
    return record.holder === undefined || (isOfNow(record, view) && election.leader === undefined);
  }
}

/** Ends a pause, and waits for a leader. */
export class ResumeEdit implements StoredEdit<string> {
  /** The record has shown no pause. */
  isStored = false;
  wasSent = false;
  readonly done = 'resumed';
  /** It still gives the paused job back. */
  #before: Holder | undefined;

  constructor(
    readonly election: Election,
    private readonly view: View,
  ) {}

  resultOf(record: JobRecord): string | undefined {
    const { election, view } = this;
    this.isStored ||= record.pausedAt === undefined && isSettled(record, view);
    return this.isStored && record.holder !== this.#before ? election.leader : undefined;
  }

  change(record: JobRecord): JobRecord | undefined {
    if (this.isStored) return undefined;
    this.wasSent = true;
    this.#before = record.holder;
    return { ...record, pausedAt: undefined };
  }
}
