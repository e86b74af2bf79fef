import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';
import { type JobRecord, NONE, type ObservedRecord } from './record.js';
import { type StoreView } from './store-view.js';
import { type RecordChange, type WriteAnswer } from './writes.js';

/** How long the caller of a pause or a command waits until the record shows what it wants. */
export const MAX_EDIT_MS = 2_000;

/**
 * A change of the record that a caller in this process wants: a pause, its end or a command. It looks at the record
 * until that shows what it waits for, and writes what is missing. So a lost answer, a conflict and a reply of the
 * leader are the same to it: another look.
 */
export interface RecordEdit {
  /** Whether the record shows what the caller waits for. */
  isDone(record: JobRecord, revision: number): boolean;
  /**
   * What to write: it leaves now. Undefined: nothing, the leader is to write. By the clock of the store, a write is not
   * carried out after `until`. Left out: it only waits.
   */
  change?(record: JobRecord, until: number): JobRecord | undefined;
  /** Its write on this revision had no answer. */
  wasUnknown?(revision: number): void;
}

/** How long the caller of an edit waits. */
export interface EditLimits {
  /** @default 2 s */
  readonly limitMs?: number | undefined;
  /** Its abort ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

interface OpenEdit {
  readonly edit: RecordEdit;
  /** It decides by answers of a later sequence. */
  readonly since: number;
  /** Its caller waits until then, by the monotonic clock. */
  readonly cancelAt: number;
  readonly close: (isDone: boolean) => void;
}

/** The edits of one record under way. */
export class RecordEdits {
  #open: readonly OpenEdit[] = NONE;

  constructor(private readonly context: { readonly clock: Clock; readonly storeView: StoreView }) {}

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  /**
   * When they read the record at the latest if no hint comes, by the monotonic clock. One that writes has 2 s. One that
   * only waits may wait for a day, so a heartbeat is soon enough.
   */
  get readAt(): number {
    const hasWriter = this.#open.some(({ edit }) => edit.change !== undefined);
    return hasWriter ? this.context.clock.now() + MAX_EDIT_MS / 4 : Infinity;
  }

  /** Resolves to whether the record has shown it in time. */
  async add(edit: RecordEdit, since: number, { limitMs = MAX_EDIT_MS, signal }: EditLimits = {}): Promise<boolean> {
    const { clock } = this.context;
    const closing = new AbortController();
    let wasDone = false;
    const close = (isDone: boolean): void => {
      this.#open = this.#open.filter((one) => one !== open);
      wasDone ||= isDone;
      closing.abort();
    };
    const open = { edit, since, cancelAt: clock.now() + limitMs, close };
    this.#open = [...this.#open, open];
    await sleep(clock, limitMs, closing.signal, ...(signal === undefined ? [] : [signal]));
    close(false);
    return wasDone;
  }

  /** Closes those that the record shows as done, and returns what the first of the others has to write. */
  reconcile(record: ObservedRecord, sequence: number, mayWrite: boolean): RecordChange | undefined {
    const { clock, storeView } = this.context;
    const { value = {}, revision, isUnreadable = false } = record;
    for (const { edit, since, cancelAt, close } of this.#open) {
      if (sequence < since) continue;
      const isDone = !isUnreadable && edit.isDone(value, revision);
      // what cannot be read shows nothing, and will not
      if (isDone || isUnreadable) {
        close(isDone);
        continue;
      }
      const until = Math.floor(storeView.storeNow() + cancelAt - clock.now());
      const changed = mayWrite ? edit.change?.(value, until) : undefined;
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
    for (const { close } of this.#open) close(false);
  }
}
