import { type Write } from '../store/store.js';
import { type LeadershipContext } from './context.js';
import { type JobRecord } from './record.js';
import { type Requests } from './requests.js';

/** Between two writes of a record that were not carried out. */
const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 3_000;

/** A write of one record. */
interface RecordWrite {
  readonly write: Write;
  /** By the clock of the store, it is not carried out after that. */
  readonly until: number;
  /** Other replicas are to read it now. */
  readonly isPublished: boolean;
  readonly answered: (answer: WriteAnswer) => void;
}

/** How a record is to change. Left out: until the end of the own lease, and published. */
export interface RecordChange extends Partial<Pick<RecordWrite, 'until' | 'isPublished'>> {
  readonly value: JobRecord;
  /** Called when the answer has been seen. */
  readonly settled?: (answer: WriteAnswer) => void;
}

export interface WriteAnswer {
  /** The new one. Undefined: it was not written, or that is unknown after a `failure`. */
  readonly revision: number | undefined;
  readonly failure: unknown;
  /** As in {@link Sync.sequence}. */
  readonly sequence: number;
}

/** What a replica writes. All writes of a pass leave in one request for each `until`. */
export class Outbox {
  /** The writes of the pass under way, which leave at its end. */
  #writes: RecordWrite[] = [];
  /** The requests that were sent and have neither been answered nor failed. */
  readonly #open = new Set<Promise<void>>();

  constructor(
    private readonly context: LeadershipContext,
    private readonly requests: Requests,
    /** Takes in an answer, and reconciles. */
    private readonly answered: (answer: () => void) => void,
  ) {}

  add(write: RecordWrite): void {
    this.#writes.push(write);
  }

  send(): void {
    const all = this.#writes;
    this.#writes = [];
    for (const until of new Set(all.map((write) => write.until))) {
      const writes = all.filter((write) => write.until === until);
      const open = this.#send(until, writes).finally(() => this.#open.delete(open));
      this.#open.add(open);
    }
  }

  /** Resolves when every write has been answered, or has failed. */
  async whenAnswered(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  async #send(until: number, writes: readonly RecordWrite[]): Promise<void> {
    const { storeView, heartbeat, outages } = this.context;
    const incarnation = storeView.incarnation.id;
    let revisions: readonly (number | undefined)[] = [];
    let failure: unknown;
    try {
      revisions = await this.requests.compareAndSet({ incarnation, until, writes: writes.map(({ write }) => write) });
    } catch (error) {
      failure = error ?? 'no reason';
    }
    this.answered(() => {
      outages.wrote(failure);
      const sequence = heartbeat.nextSequence();
      // an answer that was under way while the incarnation changed says nothing about the data of now
      const ofNow = incarnation === storeView.incarnation.id ? revisions : [];
      for (const [index, { answered }] of writes.entries()) answered({ revision: ofNow[index], failure, sequence });
    });
    const names = writes.flatMap(({ write, isPublished }, index) =>
      isPublished && (failure ?? revisions[index]) !== undefined ? write.name : [],
    );
    if (names.length > 0) this.requests.publish(names);
  }
}

/** The writes of one record, one at a time. */
export class Writer {
  /** A write is under way. No other one leaves before it is answered or has failed. */
  isOpen = false;
  /** When the last write left, by the monotonic clock. -Infinity: there was none. */
  sentAt = -Infinity;
  /** Why the last write had no answer. Undefined: it had one. */
  failure: unknown;
  /**
   * Until then, by the clock of the store, a write without an answer may still be carried out. So the record is read
   * with each sync until an answer comes from after that. -Infinity: there is no such write.
   */
  #unconfirmedUntil = -Infinity;
  /**
   * How many writes in a row were not carried out, or had no answer. Each waits longer than the one before: the store
   * may refuse all of them. 0 again when another revision shows that another replica was faster.
   */
  #failures = 0;
  /** The revision on which the last write was to be. Undefined: it is not known whether that write was carried out. */
  #failedOn: number | undefined;

  /** When the next one may leave, by the monotonic clock. */
  get nextAt(): number {
    if (this.#failures < 2) return -Infinity;
    return this.sentAt + Math.min(MIN_DELAY_MS * 2 ** (this.#failures - 2), MAX_DELAY_MS);
  }

  /** A late write may still change the record. */
  get hasUnconfirmedWrite(): boolean {
    return this.#unconfirmedUntil > -Infinity;
  }

  begin(now: number): void {
    this.isOpen = true;
    this.sentAt = now;
  }

  answered({ revision, failure }: WriteAnswer, ifRevision: number, until: number): void {
    this.isOpen = false;
    this.failure = failure;
    this.#failures = revision === undefined ? this.#failures + 1 : 0;
    // an unknown one may have changed the record itself
    this.#failedOn = failure === undefined ? ifRevision : undefined;
    if (failure !== undefined) this.#unconfirmedUntil = Math.max(this.#unconfirmedUntil, until);
  }

  /** An answer to a sync that left after the last write was answered. */
  observe(revision: number, storeTime: number): void {
    if (storeTime >= this.#unconfirmedUntil) this.#unconfirmedUntil = -Infinity;
    // another replica was faster
    if (this.#failedOn !== undefined && revision !== this.#failedOn) this.#failures = 0;
  }

  /** Another incarnation. */
  incarnationChanged(): void {
    this.#failures = 0;
  }
}
