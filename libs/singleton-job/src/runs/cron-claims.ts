import { type MissReason } from '../base/events/reasons.js';
import { type RunCause } from '../base/events/run-info.js';
import { clockAhead } from '../base/events/warnings.js';
import { type MissedOccurrences } from '../jobs/job-run.js';
import { type CronSchedule } from '../schedule/schedule.js';
import { leaseOf, replicaOf } from '../leadership/record.js';
import { changeOf } from './inheritance.js';
import { recordOf } from './single-flight.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';

/** A tick that is noticed within this time is on time, even with a smaller misfire grace. */
export const ON_TIME_MS = 1_000;

/** Occurrences are counted up to this, so that a long outage does not block the event loop. */
const COUNT_LIMIT = 1_000;

/** An occurrence starts at most so much early by the clock of the store. */
const EARLIEST_MS = 60_000;

/** Due occurrences, and how they were noticed. */
interface DueOccurrences {
  /** The newest occurrence that is handled already. */
  readonly after: number;
  /** The newest occurrence that is due. */
  readonly newest: number;
  /** The clock that decides: this replica's for a timer that fired in time, otherwise the store's. */
  readonly now: () => number;
  /** No replica led when they came due. */
  readonly isPromotion: boolean;
  /** The cause of the run of the newest occurrence. */
  readonly cause: RunCause;
  /** They waited until a superseded run had ended. */
  readonly hasWaited: boolean;
}

/** Starts or reports each occurrence once across all replicas. */
export class CronClaims {
  /** The newest occurrence whose run began. */
  #ran: number;
  /** Up to this occurrence some that were reported may have run: see {@link MissedOccurrences}. */
  #doubtfulUpTo: number;

  constructor(
    private readonly schedule: CronSchedule,
    private readonly parts: TickLoopParts,
  ) {
    const { left, claimsLostUntil } = parts.term.backlog;
    const { lastScheduledAt: begin = 0 } = parts.term.own;
    const { occurrence, endedAt } = left.run ?? {};
    // its leader died: it may have run, or not
    const interrupted = endedAt === undefined ? occurrence : undefined;
    const started = interrupted === undefined ? occurrence : schedule.latest(-Infinity, interrupted - 1);
    const isNew = changeOf(schedule, parts.term.backlog) !== 'none' && claimsLostUntil === 0;
    this.#ran = isNew ? begin : Math.min(started ?? left.lastScheduledAt ?? begin, begin);
    this.#doubtfulUpTo = Math.max(claimsLostUntil, interrupted ?? 0);
  }

  /** Reports occurrences that no replica starts any more, because data were lost or the expression is new. */
  reportBacklog(): void {
    const { backlog } = this.parts.term;
    const { left, claimsLostUntil, takenAt } = backlog;
    const { lastScheduledAt: after } = left;
    if (after === undefined) return;
    if (claimsLostUntil > after) this.#reportMissed('state-lost', after, claimsLostUntil);
    else if (changeOf(this.schedule, backlog) === 'times') this.#reportMissed('schedule-changed', after, takenAt);
  }

  /**
   * Claims the newest due occurrence if it may still start, and runs it. Reports the older ones, and this one if it is too late. Resolves to the
   * newest occurrence that is claimed or reported.
   */
  async claimAndRun(due: DueOccurrences): Promise<number> {
    const { runs, term, job } = this.parts;
    const { after, newest, now, isPromotion, hasWaited } = due;
    if (!(await this.#isStoreNear(newest))) return after;
    // the store's time decides too: a local clock that is behind must not extend the grace
    const latenessMs = (): number => Math.max(now(), term.storeNow()) - newest;
    const graceMs = isPromotion ? job.misfireGraceMs : Math.max(job.misfireGraceMs, ON_TIME_MS);
    const isInTime = (): boolean => graceMs > 0 && latenessMs() <= graceMs;
    const mayStart = !runs.isBusy && isInTime();
    const unstarted = mayStart ? this.schedule.latest(after, newest - 1) : newest;
    const report = (upTo: number | undefined): void => {
      if (upTo === undefined) return;
      if (runs.isBusy || hasWaited) this.#reportOverlap(after, upTo);
      else this.#reportMissed('late', after, upTo);
    };
    if (!mayStart) {
      report(unstarted);
      term.set({ lastScheduledAt: newest });
      return newest;
    }
    const missed = this.#missedBefore(newest);
    const before = term.own.run;
    const run = recordOf(term, { occurrence: newest });
    // if it may not begin, the next leader reports it
    if (!(await runs.claim(term, { lastScheduledAt: newest, run }))) return newest;
    if (!isInTime()) {
      report(newest);
      term.set({ run: before });
      return newest;
    }
    report(unstarted);
    runs.start({ scheduledAt: new Date(newest), cause: due.cause, missed }, term, run, true);
    this.#ran = newest;
    return newest;
  }

  /** Reports occurrences that are superseded by a newer one while a run is in flight. */
  drop(after: number, upTo: number): number {
    this.#reportOverlap(after, upTo);
    this.parts.term.set({ lastScheduledAt: upTo });
    return upTo;
  }

  /** An occurrence waits for a clock of the store that is more than a minute behind: one of the clocks is wrong. */
  async #isStoreNear(newest: number): Promise<boolean> {
    const { term, job, notify, quit, sleeper, storeName } = this.parts;
    const aheadMs = newest - term.storeNow();
    if (aheadMs <= EARLIEST_MS) return true;
    const clocks = { node: replicaOf(leaseOf(term.holder)), store: storeName };
    notify('warning', clockAhead(job.name, clocks, { scheduledAt: new Date(newest), aheadMs }));
    // checked again and again: a clock may be corrected, or this host suspended
    while (!quit.aborted && term.storeNow() < newest)
      await sleeper.sleep(Math.min(newest - term.storeNow(), MAX_SLEEP_MS));
    return false;
  }

  /** The occurrences that did not start since the last run, before this one. */
  #missedBefore(scheduledAt: number): MissedOccurrences | null {
    const from = this.#ran;
    const to = this.schedule.latest(from, scheduledAt - 1);
    if (to === undefined) return null;
    const count = this.#count(from, to);
    return Object.freeze({ from: new Date(from), to: new Date(to), count, mayHaveRun: from < this.#doubtfulUpTo });
  }

  /** Reports once that no replica will start the occurrences of a window any more, if it has some by the present expression. */
  #reportMissed(reason: MissReason, after: number, upTo: number): void {
    const { job, notify } = this.parts;
    const count = this.#count(after, upTo);
    if (count > 0)
      notify('occurrencesMissed', { job: job.name, reason, from: new Date(after), to: new Date(upTo), count });
  }

  /** Reports once that the ticks of a window came due while a run was in flight. */
  #reportOverlap(after: number, upTo: number): void {
    const { job, notify } = this.parts;
    const tick = { job: job.name, kind: 'cron', scheduledAt: new Date(upTo), count: this.#count(after, upTo) } as const;
    notify('tickDropped', { ...tick, reason: 'overlap' });
  }

  #count(after: number, upTo: number): number {
    return this.schedule.count(after, upTo, COUNT_LIMIT);
  }
}
