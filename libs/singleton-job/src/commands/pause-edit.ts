import { isSettled, pauseOf } from '../leadership/decide.js';
import { type RecordEdit } from '../leadership/record-edits.js';
import { type JobRecord, type Pause } from '../leadership/record.js';
import { type StoreView } from '../leadership/store-view.js';

/** A pause as a caller wants it. */
export type WantedPause = Omit<Pause, 'at'>;

/** A pause of a caller in this process, or its end, until the record shows it. Every replica sees it there. */
export class PauseEdit implements RecordEdit {
  wasSent = false;
  /** What `read` threw at the time of the store. Nothing is written. */
  refusal: Error | undefined;
  #wanted: WantedPause | undefined;

  constructor(
    /** Reads the pause at a time of the store. It throws if there can be none. Undefined: the end of the pause. */
    private readonly read: ((storeNow: number) => WantedPause) | undefined,
    private readonly storeView: StoreView,
    /** A replica may hold the record, and write it again on what it has seen before. */
    private readonly mayBeHeld: boolean,
  ) {}

  isDone(record: JobRecord): boolean {
    this.#fixWanted();
    if (this.refusal !== undefined) return true;
    const wanted = this.#wanted;
    const { pause } = record;
    const isAsWanted = wanted !== undefined && pause?.until === wanted.until && pause?.reason === wanted.reason;
    if (pause === undefined ? wanted !== undefined : !isAsWanted) return false;
    return !this.mayBeHeld || isSettled(record, this.storeView);
  }

  change(record: JobRecord): JobRecord {
    this.wasSent = true;
    const storeNow = this.storeView.storeNow();
    // a job that is paused stays so since then: new is when that ends, and why
    const { at = storeNow } = pauseOf(record, storeNow) ?? {};
    return { ...record, pause: this.#wanted && { at, ...this.#wanted } };
  }

  /** When the record is seen first: before that the time of the store may not be known. */
  #fixWanted(): void {
    try {
      this.#wanted ??= this.read?.(this.storeView.storeNow());
    } catch (error) {
      this.refusal = error as Error;
    }
  }
}
