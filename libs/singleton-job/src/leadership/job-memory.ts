import { type Bid, type Grant, ownerOf, type Progress, type Refusal } from '../store/index.js';
import { type Clock } from '../time/index.js';
import { type DataLoss } from './data-loss.js';

/**
 * What this process knows of one job, whoever led it: what it saw in Redis, and what it did itself. It goes with every bid,
 * so that fencing tokens grow and claimed occurrences stay claimed should Redis lose its data or its last writes, and it
 * is told to Redis until Redis has confirmed it, in whichever term that is.
 */
export class JobMemory {
  #token = 0;
  #born = 0;
  #loss: DataLoss | undefined;
  #longestTtlMs = 0;
  #last = 0;
  #fired = 0;
  #ran = 0;
  #seenRan = 0;
  #seenSchedule: string | undefined;
  #ranConfirmed = 0;
  #endedAtMs: number | undefined;
  #endConfirmedMs: number | undefined;

  /** `stateTtlMs` is how long the store keeps the state of a lock after it was last granted: see {@link Bid.stateTtlMs}. */
  constructor(
    private readonly clock: Clock,
    private readonly stateTtlMs = Infinity,
  ) {}

  /** The highest fencing token seen; 0 if none. */
  get token(): number {
    return this.#token;
  }

  /** The newest occurrence or slot known to be claimed, reported or fired; 0 if none. */
  get last(): number {
    return this.#last;
  }

  /** The latest loss of data, if Redis has lost its data since this process first heard of the job. */
  get loss(): DataLoss | undefined {
    return this.#loss;
  }

  /** The longest time to live of a lock of this job that anybody was seen to hold, foreign holders apart; 0 if none. */
  get longestTtlMs(): number {
    return this.#longestTtlMs;
  }

  /** The newest occurrence that this process has started or reported; 0 if none. */
  get ran(): number {
    return this.#ran;
  }

  /** The newest occurrence known to be settled, by whomever; 0 if none. */
  get seenRan(): number {
    return Math.max(this.#seenRan, this.#ran);
  }

  /** When an interval run last ended in this process, monotonic. */
  get endedAtMs(): number | undefined {
    return this.#endedAtMs;
  }

  /** What goes with every bid. */
  seen(): Pick<Bid, 'seenToken' | 'seenLast' | 'seenRan' | 'seenSchedule'> {
    return {
      seenToken: this.token,
      seenLast: this.last,
      seenRan: this.seenRan,
      ...(this.#seenSchedule !== undefined && { seenSchedule: this.#seenSchedule }),
    };
  }

  /** What the store said to a bid. */
  learn(answer: Grant | Refusal): void {
    this.#learnBirth(answer.born);
    this.#token = Math.max(this.#token, answer.token);
    // where `last` was raised, `ran` was raised with it, and not because anybody knew
    const { ran } = (answer.granted ? answer.raisedFrom : undefined) ?? answer;
    this.#seenRan = Math.max(this.#seenRan, ran);
    this.claimed(answer.last);
    // occurrences up to the last sight of a holder that keeps no state count as its own
    if (!answer.granted && ownerOf(answer.holder) === undefined) this.#theirs(answer.time);
    if (answer.granted) this.#leads();
    else this.#follows(answer);
  }

  /** A lock that lives for so long was seen, be it one of this process. */
  sawTtl(ttlMs: number): void {
    this.#longestTtlMs = Math.max(this.#longestTtlMs, ttlMs);
  }

  /** The occurrence at `scheduledAt` was claimed, by whomever. */
  claimed(scheduledAt: number): void {
    this.#last = Math.max(this.#last, scheduledAt);
  }

  /** The slot at `scheduledAt` was fired. */
  fired(scheduledAt: number): void {
    this.#fired = Math.max(this.#fired, scheduledAt);
    this.claimed(scheduledAt);
  }

  /** The occurrence at `scheduledAt` is settled: its run has begun, or it was reported. */
  settled(scheduledAt: number): void {
    this.#ran = Math.max(this.#ran, scheduledAt);
  }

  /** An interval run has just ended. */
  ended(): void {
    this.#endedAtMs = this.clock.now();
  }

  /** What Redis has not confirmed yet, and how to note that it has. */
  unconfirmed(): { readonly progress: Progress; readonly confirm: () => void } {
    const ran = this.#ran;
    const endedAtMs = this.#endedAtMs;
    const progress: Progress = {
      ...(ran > this.#ranConfirmed && { ran }),
      ...(endedAtMs !== undefined &&
        endedAtMs !== this.#endConfirmedMs && { endAgeMs: Math.round(this.clock.now() - endedAtMs) }),
    };
    return {
      progress,
      confirm: () => {
        this.#ranConfirmed = Math.max(this.#ranConfirmed, ran);
        this.#endConfirmedMs = endedAtMs;
      },
    };
  }

  /**
   * Everything that goes with a release, whether or not Redis has confirmed it: it may have lost its last writes since.
   * Nothing for a lock that is no job's, which has no occurrences: after its state was forgotten, a release would begin
   * another, which nothing would ever forget.
   */
  final(): Progress {
    if (this.stateTtlMs !== Infinity) return {};
    this.untold();
    const ran = Math.max(this.#ran, this.#fired);
    return {
      ...this.unconfirmed().progress,
      ...(ran > 0 && { ran }),
      ...(this.#last > 0 && { last: this.#last }),
    };
  }

  /** What answers from now on may be another server, or one that was restored: everything is told again. */
  untold(): void {
    this.#ranConfirmed = 0;
    this.#endConfirmedMs = undefined;
  }

  /** What a foreign holder may have run is its own: claimed, and nothing to account for. */
  #theirs(upTo: number): void {
    this.claimed(upTo);
    if (this.#seenRan > 0) this.#seenRan = Math.max(this.#seenRan, upTo);
  }

  /** Another birth than before: the state that was known is gone. 0 is none, of a lock whose holder keeps no state. */
  #learnBirth(born: number): void {
    if (born === 0) return;
    // no token is below the store's time at its grant, so this is when the state was written for the last time, or later
    const wasForgotten = born - this.#token >= this.stateTtlMs;
    if (this.#born !== 0 && born !== this.#born && !wasForgotten) {
      this.#loss = { bornBefore: this.#born, born, longestTtlMs: this.#longestTtlMs, heardAtMs: this.clock.now() };
    }
    this.#born = born;
  }

  #follows({ holder, ttlMs, schedule }: Refusal): void {
    // a foreign holder is no leader that could trust a lease after a loss of data, and may be locked for a day
    if (ownerOf(holder) !== undefined) this.sawTtl(ttlMs);
    // '' is no state: nobody has said another one
    if (schedule !== '') this.#seenSchedule = schedule;
  }

  /** In a new term the store may be another than the one that confirmed, and its schedule is ours. */
  #leads(): void {
    this.#seenSchedule = undefined;
    this.untold();
  }
}
