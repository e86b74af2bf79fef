import { type RunCause } from '../base/events/run-info.js';
import { clockAhead } from '../base/events/warnings.js';
import { type MissedOccurrences } from '../jobs/job-run.js';
import { type CronSchedule } from '../schedule/schedule.js';
import { holderName } from '../store/lock-store.js';
import { unlessAborted } from '../base/time/unless-aborted.js';
import { COUNT_LIMIT, reportIfAnyMissed, reportMissed, reportOverlap } from './reports.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';

/** A tick that is noticed within this time is on time, even with a smaller misfire grace. */
export const ON_TIME_MS = 1_000;

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
    const { ran, unconfirmed, lost, claimed } = parts.term.backlog;
    this.#ran = ran;
    this.#doubtfulUpTo = lost === undefined ? (unconfirmed?.claimed ?? 0) : claimed;
  }

  /**
   * Claims the newest due occurrence, and with it all older ones. Runs it if it may still start, and reports the others. Resolves to the
   * newest occurrence that is handled or claimed by any replica.
   */
  claimAndRun(due: DueOccurrences): Promise<number> {
    return this.#claim(due.after, due.newest, () => {
      this.#runOrReport(due);
    });
  }

  /** Claims and reports occurrences that are superseded by a newer one while a run is in flight. Resolves as {@link claimAndRun}. */
  claimAsDropped(after: number, upTo: number): Promise<number> {
    return this.#claim(after, upTo, () => {
      reportOverlap(this.parts, after, upTo);
      this.parts.term.handled(upTo);
    });
  }

  /** Claims and reports occurrences whose claims may be lost in the store. Resolves as {@link claimAndRun}. */
  claimAsLost(after: number, upTo: number): Promise<number> {
    return this.#claim(after, upTo, () => {
      this.#reportLost(after, upTo);
    });
  }

  async #claim(after: number, newest: number, whenClaimed: () => void): Promise<number> {
    const { term, runs, job, notify, quit, sleeper } = this.parts;
    const answer = await term.claim(newest);
    switch (answer?.outcome) {
      case 'claimed':
      case 'already-ours':
        // the host may have been suspended between the claim and its answer
        if (!term.isValid()) await unlessAborted(term.untilValid(), quit);
        // otherwise no run begins, the claim stays, and the next leader reports the occurrence
        if (term.isValid() && !runs.isClosed) whenClaimed();
        return newest;
      case 'taken': {
        // no other replica can claim during this term: the store has restored a lost claim
        const upTo = Math.max(newest, answer.claimed);
        this.#reportLost(after, upTo);
        return upTo;
      }
      case 'too-early': {
        const aheadMs = newest - answer.storeTime;
        const clocks = { node: holderName(term.holder), store: term.storeName };
        notify('warning', clockAhead(job.name, clocks, { scheduledAt: new Date(newest), aheadMs }));
        // checked again and again: a clock may be corrected, or this host suspended
        while (!quit.aborted && term.storeClock.now() < newest)
          await sleeper.sleep(Math.min(newest - term.storeClock.now(), MAX_SLEEP_MS));
        return after;
      }
      case 'paused':
      case 'not-leader':
      case undefined:
        return after;
    }
  }

  #runOrReport({ after, newest, now, isPromotion, cause, hasWaited }: DueOccurrences): void {
    const { runs, term, job } = this.parts;
    // the answer to the claim has the store's time: a local clock that is behind must not extend the grace
    const latenessMs = Math.max(now(), term.storeClock.now()) - newest;
    const graceMs = isPromotion ? job.misfireGraceMs : Math.max(job.misfireGraceMs, ON_TIME_MS);
    const starts = !runs.isBusy && graceMs > 0 && latenessMs <= graceMs;
    const unstarted = starts ? this.schedule.latest(after, newest - 1) : newest;
    if (unstarted !== undefined) {
      if (runs.isBusy || hasWaited) reportOverlap(this.parts, after, unstarted);
      else reportMissed(this.parts, { reason: 'late', after, upTo: unstarted });
    }
    if (starts) {
      runs.start({ scheduledAt: new Date(newest), cause, missed: this.#missedBefore(newest) }, term);
      this.#ran = newest;
      term.slotFired(newest);
    }
    term.handled(newest);
    // records the start at once: without it the next leader would report the run as not confirmed
    if (starts) void term.renewAfresh();
  }

  #reportLost(after: number, upTo: number): void {
    reportIfAnyMissed(this.parts, { reason: 'state-lost', after, upTo });
    this.parts.term.handled(upTo);
    this.#doubtfulUpTo = upTo;
  }

  /** The occurrences that did not start since the last run, before this one. */
  #missedBefore(scheduledAt: number): MissedOccurrences | null {
    const from = this.#ran;
    const to = this.schedule.latest(from, scheduledAt - 1);
    if (to === undefined) return null;
    const count = this.schedule.count(from, to, COUNT_LIMIT);
    return Object.freeze({ from: new Date(from), to: new Date(to), count, mayHaveRun: from < this.#doubtfulUpTo });
  }
}
