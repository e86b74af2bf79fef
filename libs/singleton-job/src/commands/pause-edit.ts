import { isSettled, pauseOf } from '../leadership/decide.js';
import { type RecordEdit } from '../leadership/record-edits.js';
import { type JobRecord } from '../leadership/record.js';
import { type StoreView } from '../leadership/store-view.js';

/** A pause as a caller wants it. */
export interface WantedPause {
  /** A duration is in milliseconds, from now on. Undefined: it lasts until it is ended. */
  readonly until?: Date | number | undefined;
  readonly reason?: string | undefined;
}

/** A pause of a caller in this process, or its end, until the record shows it. Every replica sees it there. */
export class PauseEdit implements RecordEdit {
  wasSent = false;
  /** By the clock of the store, so it is fixed when the record is seen first. */
  #until: number | undefined;

  constructor(
    /** Undefined: its end. */
    private readonly wanted: WantedPause | undefined,
    private readonly storeView: StoreView,
  ) {}

  isDone(record: JobRecord): boolean {
    const { wanted, storeView } = this;
    const { until, reason } = wanted ?? {};
    this.#until ??= until instanceof Date ? until.getTime() : until && storeView.storeNow() + until;
    const { pause } = record;
    const isAsWanted = wanted !== undefined && pause?.until === this.#until && pause?.reason === reason;
    return (pause === undefined ? wanted === undefined : isAsWanted) && isSettled(record, storeView);
  }

  change(record: JobRecord): JobRecord {
    this.wasSent = true;
    const storeNow = this.storeView.storeNow();
    // a job that is paused stays so since then: new is when that ends, and why
    const { at = storeNow } = pauseOf(record, storeNow) ?? {};
    return { ...record, pause: this.wanted && { at, until: this.#until, reason: this.wanted.reason } };
  }
}
