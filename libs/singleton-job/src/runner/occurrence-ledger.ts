import { type RunCause } from '../events/index.js';
import { type CronSchedule } from '../schedule/index.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';
import { reportIfAnyMissed, reportMissed, reportOverlap } from './reports.js';

/** A tick that is noticed within this time is on time, however small the misfire grace. */
export const ON_TIME_MS = 1_000;

/** Occurrences that are due, and how that was noticed. */
interface DueOccurrences {
  /** The newest that was dealt with before. */
  readonly after: number;
  /** The newest that is due. */
  readonly newest: number;
  /** The clock that decides what is due: this replica's for a timer that fired in time, otherwise the store's. */
  readonly now: () => number;
  /** Nobody led when they came due. */
  readonly isPromotion: boolean;
  /** Why the newest is run, if it is. */
  readonly cause: RunCause;
  /** They waited for a run to settle that was aborted in their favour. */
  readonly hasWaited: boolean;
}

/** Sees to it that each occurrence is started once, or reported once, across all replicas. */
export class OccurrenceLedger {
  constructor(
    private readonly schedule: CronSchedule,
    private readonly parts: TickLoopParts,
  ) {}

  /**
   * Claims the newest occurrence that is due, and with it all older ones. Runs it if it still may, and reports the rest.
   * Answers the newest occurrence that is dealt with, by whomever.
   */
  claimAndRun(due: DueOccurrences): Promise<number> {
    return this.#claim(due.after, due.newest, () => {
      this.#runOrReport(due);
    });
  }

  /** Claims and reports occurrences that a newer one pushes aside while a run is in flight. Answers as {@link claimAndRun}. */
  claimAsDropped(after: number, upTo: number): Promise<number> {
    return this.#claim(after, upTo, () => {
      reportOverlap(this.parts, after, upTo);
      this.parts.term.known.settled(upTo);
    });
  }

  /** Claims and reports occurrences of which Redis may have lost the claim. Answers as {@link claimAndRun}. */
  claimAsLost(after: number, upTo: number): Promise<number> {
    return this.#claim(after, upTo, () => {
      reportIfAnyMissed(this.parts, { reason: 'state-lost', after, upTo });
      this.parts.term.known.settled(upTo);
    });
  }

  async #claim(after: number, newest: number, whenOurs: () => void): Promise<number> {
    const { term, guard, job, notify, quit, sleeper } = this.parts;
    const answer = await term.claim(newest);
    switch (answer?.outcome) {
      case 'claimed':
      case 'already-ours':
        // the host may have slept between the claim and its answer
        while (!term.isTrusted() && !term.isOver()) await term.untilTrusted();
        // past the deadline, or at the end of a stop, the claim stands, no run begins, and the next leader reports it
        if (!term.isOver() && !guard.isClosed) whenOurs();
        return newest;
      case 'taken': {
        // no other replica can claim while the lock is ours: a claim that the store had lost was restored
        const upTo = Math.max(newest, answer.newestClaimed);
        reportIfAnyMissed(this.parts, { reason: 'state-lost', after, upTo });
        term.known.settled(upTo);
        return upTo;
      }
      case 'too-early': {
        const aheadMs = newest - answer.storeTime;
        notify('clockAhead', { job: job.name, scheduledAt: new Date(newest), aheadMs });
        // by its latest answers: its clock may have been corrected, or this host was suspended
        while (!quit.aborted && term.storeNow() < newest)
          await sleeper.sleep(Math.min(newest - term.storeNow(), MAX_SLEEP_MS));
        return after;
      }
      case 'paused':
      case 'not-leader':
      case undefined:
        return after;
    }
  }

  #runOrReport({ after, newest, now, isPromotion, cause, hasWaited }: DueOccurrences): void {
    const { guard, term, job } = this.parts;
    // the claim has brought the store's time: a clock that is behind must not stretch the grace
    const latenessMs = Math.max(now(), term.storeNow()) - newest;
    const graceMs = isPromotion ? job.misfireGraceMs : Math.max(job.misfireGraceMs, ON_TIME_MS);
    const starts = !guard.isBusy && graceMs > 0 && latenessMs <= graceMs;
    const unstarted = starts ? this.schedule.latest(after, newest - 1) : newest;
    if (unstarted !== undefined) {
      if (guard.isBusy || hasWaited) reportOverlap(this.parts, after, unstarted);
      else reportMissed(this.parts, { reason: 'late', after, upTo: unstarted });
    }
    if (starts) guard.start({ scheduledAt: new Date(newest), cause }, term);
    term.known.settled(newest);
    // the next leader would report the run as not confirmed until the next renewal
    if (starts) void term.renewAfresh();
  }
}
