import { isCurrent } from '../leadership/decide.js';
import { type Election } from '../leadership/election.js';
import { type RecordEdit } from '../leadership/record-edits.js';
import { type Command, type JobRecord } from '../leadership/record.js';
import { type StoreView } from '../leadership/store-view.js';
import { type Holder, replicaOf } from '../store/lease-id.js';
import { isAwaited } from './replies.js';

/** A command of a caller in this process, until the leader has replied or none will. */
export class PendingCommand implements RecordEdit {
  /** The record as it was seen last. Undefined: it was not seen. */
  record: JobRecord | undefined;
  /** It was sent. */
  wasSent = false;
  /**
   * What the leader replied, or `paused`: the job is, so no leader was asked. Undefined: no leader will reply, or it is
   * not known what became of the command.
   */
  outcome: string | undefined;
  /** The leader that has replied. Null: none has. */
  by: string | null = null;
  /** When the triggered run began, by the clock of the store. Undefined: none has. */
  startedAt: number | undefined;
  /** The leader when it was written. Only its term carries it out. */
  #asked: Holder | undefined;
  /** The revision that has shown the command, or on which a write of it had no answer. */
  #sentOn: number | undefined;

  constructor(
    readonly id: string,
    private readonly action: Command['action'],
    private readonly election: Election,
    private readonly storeView: StoreView,
  ) {}

  isDone(record: JobRecord, revision: number): boolean {
    const { command, holder } = record;
    this.record = record;
    if (command?.id === this.id && this.#asked !== undefined) {
      this.#sentOn = revision;
      if (command.outcome === undefined) return holder !== this.#asked;
      this.outcome = command.outcome;
      this.by = replicaOf(this.#asked);
      this.startedAt = command.run?.startedAt;
      return true;
    }
    // it may have been carried out, and the next command has replaced it
    if (this.#sentOn !== undefined && this.#sentOn !== revision) return true;
    if (this.election.pause === undefined || this.action !== 'trigger') return this.#isFree(record);
    this.outcome = 'paused';
    return true;
  }

  /** A command waits while the caller of another one waits. */
  change(record: JobRecord, until: number): JobRecord | undefined {
    const { id, action, storeView } = this;
    const { command, holder } = record;
    if (command !== undefined && (command.id === id || isAwaited(command, storeView))) return undefined;
    this.#asked = holder;
    this.wasSent = true;
    return { ...record, command: { id, action, until } };
  }

  wasUnknown(revision: number): void {
    this.#sentOn = revision;
  }

  /** There is no leader, not even one that writes its record again after a restart of the store. */
  #isFree(record: JobRecord): boolean {
    const { election, storeView } = this;
    return record.holder === undefined || (isCurrent(record, storeView) && election.leader === undefined);
  }
}
