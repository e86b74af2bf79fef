import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';
import { type JobRecord, type ObservedRecord } from './record.js';
import { type StoreView } from './view.js';
import { type RecordChange, type WriteAnswer } from './writes.js';

/** How long a caller waits for the effect of a command. */
export const COMMAND_MS = 2_000;

/**
 * A write of a caller in this process: a pause, a resume or a command. It looks at the record until that shows the
 * result, and writes what is missing. So a lost answer, a conflict and an answer of the leader are the same to it:
 * another look.
 */
export interface Edit<T> {
  /** The result, as soon as the record shows it. */
  resultOf(record: JobRecord, revision: number): T | undefined;
  /**
   * What to write: it leaves now. Undefined: nothing, the leader is to answer. By the clock of the store, a write is
   * not carried out after `until`.
   */
  change(record: JobRecord, until: number): JobRecord | undefined;
  /** Its write on this revision had no answer. */
  wasUnknown?(revision: number): void;
}

interface OpenEdit {
  readonly edit: Edit<unknown>;
  /** It decides by answers of a later sequence. */
  readonly since: number;
  /** When the wait of the caller ends without a result, by the monotonic clock. */
  readonly cancelAt: number;
  readonly closing: AbortController;
  result?: unknown;
}

/** The edits of one record under way. */
export class Edits {
  readonly #open = new Set<OpenEdit>();

  constructor(private readonly context: { readonly clock: Clock; readonly storeView: StoreView }) {}

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Resolves to the result, or to undefined if the record does not show it within 2 s. */
  async add<T>(edit: Edit<T>, since: number): Promise<T | undefined> {
    const { clock } = this.context;
    const open: OpenEdit = { edit, since, cancelAt: clock.now() + COMMAND_MS, closing: new AbortController() };
    this.#open.add(open);
    await sleep(clock, COMMAND_MS, open.closing.signal);
    this.#open.delete(open);
    return open.result as T | undefined;
  }

  /** Closes those whose result the record shows, and returns what the first of the others has to write. */
  reconcile(record: ObservedRecord, sequence: number, mayWrite: boolean): RecordChange | undefined {
    const { clock, storeView } = this.context;
    const { value = {}, revision, isUnreadable } = record;
    for (const open of this.#open) {
      const { edit, since, cancelAt } = open;
      if (sequence < since) continue;
      // what cannot be read shows nothing, and will not
      open.result = isUnreadable ? undefined : edit.resultOf(value, revision);
      if (open.result !== undefined || isUnreadable) {
        this.#close(open);
        continue;
      }
      const until = Math.floor(storeView.storeNow() + cancelAt - clock.now());
      const changed = mayWrite ? edit.change(value, until) : undefined;
      if (changed === undefined) continue;
      const settled = ({ failure }: WriteAnswer): void => {
        if (failure !== undefined) edit.wasUnknown?.(revision);
      };
      return { value: { ...changed, commandedIn: storeView.incarnation.id }, until, settled };
    }
    return undefined;
  }

  /** The process ends. */
  cancelAll(): void {
    for (const open of this.#open) this.#close(open);
  }

  #close(open: OpenEdit): void {
    this.#open.delete(open);
    open.closing.abort();
  }
}
