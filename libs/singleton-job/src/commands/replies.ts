import { MAX_EDIT_MS } from '../leadership/record-edits.js';
import { type Command, contains, type JobRecord, type Reply } from '../leadership/record.js';
import { type StoreView } from '../leadership/store-view.js';
import { type TermHandle } from '../leadership/term.js';

/** The outcome where the leader releases the job. */
export const RELEASING = 'releasing';

/** A term may last for years. */
const MAX_IGNORED = 100;

/**
 * Whether its caller still waits for a reply. One that ends later than a caller waits was written before the clock of
 * the store was set back.
 */
export function isAwaited({ outcome, until }: Command, view: StoreView): boolean {
  return outcome === undefined && view.storeNow() < until && until <= view.storeNowAtMost() + MAX_EDIT_MS;
}

/**
 * How the leader of one term replies to commands, one at a time. The reply is written first, and the command is carried
 * out when the record shows it.
 */
export class Replies {
  /** The reply that is to be written, until the record shows it. */
  pending: Reply | undefined;
  /** The last commands that were carried out, or there when the term began: an old snapshot may show them again. */
  ignored: readonly (string | undefined)[];

  constructor(
    private readonly term: Pick<TermHandle, 'holder' | 'predecessor' | 'release' | 'set' | 'whenOver'>,
    private readonly storeView: StoreView,
    private readonly replyTo: (command: Command) => Reply,
  ) {
    this.ignored = [term.predecessor.record?.command?.id];
    term.whenOver(() => this.pending?.settle?.(false));
  }

  /** The record as it is, before anything else is written: does what it shows the reply to. */
  observe(value: JobRecord): void {
    const { pending } = this;
    if (pending === undefined || value.holder !== this.term.holder) return;
    const outcome = value.command?.id === pending.id ? value.command.outcome : undefined;
    // the next command may be there already
    const isNext = value.command?.id !== pending.id && pending.fields !== undefined && contains(value, pending.fields);
    if (outcome === undefined && !isNext) return;
    this.#close(pending, outcome !== RELEASING);
  }

  /** The reply to write, to the command in the record. One that the record can show no more is cancelled. */
  next(command: Command | undefined): Reply | undefined {
    const { pending, storeView } = this;
    const mayArrive = command?.id === pending?.id && storeView.storeTime < (pending?.until ?? 0);
    if (pending !== undefined && !mayArrive) this.#close(pending, false);
    if (this.pending === undefined && command !== undefined && this.#isNew(command))
      this.pending = this.term.release === undefined ? this.replyTo(command) : releasing(command);
    return this.#toWrite;
  }

  #isNew(command: Command): boolean {
    return !this.ignored.includes(command.id) && isAwaited(command, this.storeView);
  }

  /**
   * A leader that releases the job starts no run for a command. Where an earlier reply may still arrive, that and this
   * one are for the same revision, so the record shows which of them counts.
   */
  get #toWrite(): Reply | undefined {
    const { pending } = this;
    if (pending?.settle === undefined || this.term.release === undefined) return pending;
    return releasing(pending);
  }

  /** Once, also if an old snapshot shows it again. */
  #close({ id, fields, settle }: Reply, isShown: boolean): void {
    this.pending = undefined;
    this.ignored = [...this.ignored, id].slice(-MAX_IGNORED);
    if (isShown && fields !== undefined) this.term.set(fields);
    settle?.(isShown);
  }
}

function releasing({ id, action, until }: Command): Reply {
  return { id, action, until, outcome: RELEASING };
}
