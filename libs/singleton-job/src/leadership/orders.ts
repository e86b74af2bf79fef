import { type Holder } from '../store/lease-id.js';
import { COMMAND_MS } from './edit.js';
import { type Command, type JobRecord, type LeaderFields, contains } from './record.js';
import { type StoreView } from './view.js';

/** The answer of a leader that releases the job. */
export const RELEASING = 'releasing';

/** A term may last for years. */
const MAX_IGNORED = 100;

/**
 * Whether its caller still waits for an answer. One that ends later than a caller waits was written before the clock of
 * the store was set back.
 */
export function isAwaited({ outcome, until }: Command, view: StoreView): boolean {
  return outcome === undefined && view.storeNow() < until && until <= view.storeNowAtMost() + COMMAND_MS;
}

/** What a leader answers to a command. */
export interface Answer {
  readonly outcome: string;
  /** Written together with the answer. */
  readonly fields?: LeaderFields;
  /** Called when the record shows the answer. */
  readonly act?: () => void;
  /** Called if the record shows that the answer never arrived. */
  readonly cancel?: () => void;
}

/** A command with its answer, while the record does not show it. After `until` such an answer is cancelled. */
export type Order = Answer & Pick<Command, 'id' | 'until'>;

/**
 * The commands to the leader of one term, one at a time. The answer is written first, and the command is carried out
 * when the record shows it.
 */
export class Orders {
  /** The command whose answer is to be written, until the record shows the answer. */
  pending: Order | undefined;
  /** The last commands that were carried out, or there when the term began: an old snapshot may show them again. */
  ignored: readonly (string | undefined)[] = [this.before?.id];

  constructor(
    private readonly holder: Holder,
    private readonly before: Command | undefined,
  ) {}

  /** The order to carry out: the record shows its answer. */
  onRecord(value: JobRecord): Order | undefined {
    const { pending } = this;
    if (pending === undefined || value.holder !== this.holder) return undefined;
    const answer = value.command?.id === pending.id ? value.command.outcome : undefined;
    // the next command may be there already
    const isNext = value.command?.id !== pending.id && pending.fields !== undefined && contains(value, pending.fields);
    if (answer === undefined && !isNext) return undefined;
    this.#close(pending, answer !== RELEASING);
    return answer === RELEASING ? undefined : pending;
  }

  /** The command to answer now. An answer that the record does not show is cancelled when it cannot arrive any more. */
  next(command: Command | undefined, view: StoreView): Command | undefined {
    const { pending } = this;
    if (pending !== undefined) {
      if (command?.id === pending.id && view.storeTime < pending.until) return undefined;
      this.#close(pending, false);
    }
    if (command === undefined || this.ignored.includes(command.id)) return undefined;
    return isAwaited(command, view) ? command : undefined;
  }

  /** From now on this answer is written, until the record shows it. */
  open({ id, until }: Command, answer: Answer = { outcome: RELEASING }): void {
    this.pending = { id, until, ...answer };
  }

  /** Once, also if an old snapshot shows it again. */
  #close({ id, cancel }: Order, isCarriedOut: boolean): void {
    this.pending = undefined;
    this.ignored = [...this.ignored, id].slice(-MAX_IGNORED);
    if (!isCarriedOut) cancel?.();
  }
}
