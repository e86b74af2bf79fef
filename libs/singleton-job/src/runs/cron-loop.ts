import { type Reason } from '../base/events/events.js';
import { claimsAhead, clockAhead } from '../base/events/warnings.js';
import { type MissedOccurrences } from '../jobs/job-run.js';
import { cronDescribedBy } from '../schedule/cron/cron.js';
import { type CronSchedule } from '../schedule/schedule.js';
import { runFirst, versionNote } from './first-run.js';
import { changeOf } from './inheritance.js';
import { OccurrenceFilter } from './occurrence-filter.js';
import { runRecordOf } from './run.js';
import { type TickLoopParts } from './tick-loop.js';

/** A tick that is noticed within this time is on time, even with a smaller misfire grace. */
const ON_TIME_MS = 1_000;

/** Occurrences are counted up to this, so that a long outage does not block the event loop. */
const COUNT_LIMIT = 1_000;

/** An occurrence starts at most so much early by the clock of the store. */
const MAX_EARLY_MS = 60_000;

/**
 * Fires cron occurrences, and starts or reports each one once across all replicas. Each is claimed in the record of the
 * job right before its run, so that no other replica starts it, even if the clocks differ.
 *
 * A tick on time goes by the wall clock of this replica. The store's clock decides what was missed and what may still
 * run after a change of leader and after a late wake-up: a blocked event loop, a clock that was stepped or is far
 * behind, a suspended host.
 */
export class CronLoop {
  /** The newest occurrence whose run began. */
  #lastStarted: number;
  /** Up to this occurrence some that were reported may have run: see {@link MissedOccurrences}. */
  readonly #doubtfulUpTo: number;
  /** No replica led when what is due came due. */
  #isPromotion = true;
  readonly #filter: OccurrenceFilter;
  /** What is due waited until a superseded run had ended. */
  #hasWaited = false;
  /** It was reported that the clock of this replica is far ahead of the store's. */
  #isAhead = false;

  constructor(
    private readonly schedule: CronSchedule,
    private readonly parts: TickLoopParts,
  ) {
    const { term } = parts;
    const { fields, claimsLostUntil } = term.predecessor;
    const { lastScheduledAt: begin = 0 } = term.fields;
    const { scheduledAt, occurrence, endedAt } = fields.run ?? {};
    // its leader died: it may have run, or not
    const interrupted = endedAt === undefined ? scheduledAt : undefined;
    const started = interrupted === undefined ? occurrence : schedule.latest(interrupted - 1);
    const isNew = changeOf(schedule, term.predecessor) !== 'none' && claimsLostUntil === 0;
    this.#lastStarted = isNew ? begin : Math.min(started ?? fields.lastScheduledAt ?? begin, begin);
    this.#doubtfulUpTo = Math.max(claimsLostUntil, interrupted ?? 0);
    this.#filter = new OccurrenceFilter(parts);
  }

  /** The newest occurrence that is claimed or reported. */
  get #lastSettled(): number {
    return this.parts.term.fields.lastScheduledAt ?? 0;
  }

  async run(): Promise<void> {
    const { clock, sleeper, term, job } = this.parts;
    // A clock that is behind must not delay an occurrence past its grace. The store's clock takes over when it is
    // behind by half the grace.
    const patienceMs = Math.max(job.misfireGraceMs, ON_TIME_MS) / 2;
    this.#reportPastOccurrences();
    while (!sleeper.isOver) {
      const due = this.schedule.next(this.#lastSettled) ?? Infinity;
      const wall = clock.wallNow();
      const aheadMs = wall - term.storeNow();
      const isFarAhead = aheadMs > MAX_EARLY_MS;
      if (wall >= due) this.#warnIfAhead(due, isFarAhead ? aheadMs : 0);
      const isNear = !isFarAhead && aheadMs >= -patienceMs;
      const untilDueMs = due - (isNear ? wall : term.storeNow());
      if (!this.#isPromotion && untilDueMs > 0) await sleeper.sleep(untilDueMs);
      else if (!term.isValid()) await sleeper.sleep(Infinity, term.untilValid());
      else {
        const isOnTime = !this.#isPromotion && isNear && wall >= due && wall - due <= ON_TIME_MS;
        await this.#handle(due, () => (isOnTime ? clock.wallNow() : term.storeNow()));
      }
    }
  }

  /**
   * Something may be due. `now` is the clock that decides: this replica's for a timer that fired in time, otherwise the
   * store's.
   */
  async #handle(due: number, now: () => number): Promise<void> {
    const { sleeper, term, runs, job } = this.parts;
    const newest = this.#newestDue(now());
    if (newest !== undefined && runs.isBusy && job.overlap === 'cancel-other') {
      // what is left out makes room for nothing
      if (await this.#askOnly(newest)) await this.#supersede(newest, now);
      return;
    }
    if (newest !== undefined) await this.#claimAndRun(newest, now);
    if (this.#isPromotion) await runFirst(this.parts);
    // due by this replica's clock but not by the store's, which decides after a late wake-up
    else if (newest === undefined) await sleeper.sleep(Math.min(due - term.storeNow(), ON_TIME_MS));
    this.#isPromotion = false;
    this.#hasWaited = false;
  }

  /** Reports occurrences that no replica starts any more, because data were lost or the expression is new. */
  #reportPastOccurrences(): void {
    const { job, notify, replica, term } = this.parts;
    const { predecessor } = term;
    const { fields, claimsLostUntil, takenAt, record } = predecessor;
    const { lastScheduledAt: after } = fields;
    if (after === undefined) return;
    if (after - takenAt > MAX_EARLY_MS)
      notify('warning', claimsAhead(job.name, new Date(after), this.#lastSettled < after, replica.context.storeName));
    if (claimsLostUntil > after) this.#report('data-lost', after, claimsLostUntil);
    if (claimsLostUntil > after || changeOf(this.schedule, predecessor) !== 'times') return;
    // what was due then, not what the new schedule would have had
    const before = cronDescribedBy(record?.schedule ?? '');
    if (before !== undefined) this.#report('schedule-changed', after, takenAt, before);
  }

  /** Aborts the run in flight, which makes room for the newest occurrence. Older ones are dropped. */
  async #supersede(newest: number, now: () => number): Promise<void> {
    const { runs, sleeper } = this.parts;
    runs.inFlight?.abort('SUPERSEDED');
    this.#hasWaited = true;
    this.#skip(this.#newestDue(newest - 1));
    const nextMs = (this.schedule.next(newest) ?? Infinity) - now();
    await sleeper.sleep(Math.max(nextMs, 1), runs.whenIdle());
  }

  /**
   * Claims the newest due occurrence if it may still start, and runs it. Reports the older ones, and this one if it is
   * too late.
   */
  async #claimAndRun(newest: number, now: () => number): Promise<void> {
    const { runs, term, job } = this.parts;
    const misfireGraceMs = this.#isPromotion ? job.misfireGraceMs : Math.max(job.misfireGraceMs, ON_TIME_MS);
    // the store's time decides too: a local clock that is behind must not extend the grace
    const isInTime = (): boolean => misfireGraceMs > 0 && Math.max(now(), term.storeNow()) - newest <= misfireGraceMs;
    const isLeftOut = (): boolean => runs.isBusy || !isInTime();
    if (!isLeftOut() && !(await this.#askOnly(newest))) return;
    if (isLeftOut()) {
      this.#skip(newest);
      return;
    }
    const cause = this.#isPromotion || (!this.#hasWaited && now() - newest > ON_TIME_MS) ? 'misfire' : 'schedule';
    const missed = this.#missedBefore(newest);
    // before the claim, which hides them from the next leader
    this.#skip(this.#newestDue(newest - 1));
    const after = this.#lastSettled;
    const before = term.fields.run;
    const record = runRecordOf(term, { scheduledAt: newest, occurrence: newest });
    // what was claimed and may not start is reported by the next leader
    if (!(await runs.claim(term, { lastScheduledAt: newest, run: record, ...versionNote(this.parts) }))) return;
    if (!isInTime()) {
      this.#report('late', after, newest);
      term.set({ run: before });
      return;
    }
    runs.start({ term, record, missed, scheduledAt: newest, cause });
    this.#lastStarted = newest;
  }

  /** Once, until the clocks agree: an occurrence that is due here waits for the clock of the store. */
  #warnIfAhead(due: number, aheadMs: number): void {
    const { job, notify, replica } = this.parts;
    if (aheadMs > 0 && !this.#isAhead)
      notify('warning', clockAhead(job.name, new Date(due), aheadMs, [replica.id, replica.context.storeName]));
    this.#isAhead = aheadMs > 0;
  }

  /** Asks the option `only`. False: it leaves the occurrence out, is asked again, or the term is over. */
  async #askOnly(newest: number): Promise<boolean> {
    const { job, notify, term } = this.parts;
    const isWanted = await this.#filter.wants(newest);
    if (isWanted !== false) return isWanted === true;
    const before = this.#newestDue(newest - 1);
    this.#skip(before);
    notify('occurrenceSkipped', { job: job.name, scheduledAt: new Date(newest) });
    // it was not missed, so a run after it makes up for nothing
    const { run } = term.fields;
    const isNext = before === undefined && this.schedule.latest(newest - 1) === this.#lastStarted;
    if (isNext) this.#lastStarted = newest;
    term.set({ lastScheduledAt: newest, ...(isNext && run !== undefined && { run: { ...run, occurrence: newest } }) });
    return false;
  }

  /** The occurrences that did not start since the last run, before this one. */
  #missedBefore(scheduledAt: number): MissedOccurrences | null {
    const from = this.#lastStarted;
    const to = this.schedule.latest(scheduledAt - 1);
    if (to === undefined || to <= from) return null;
    const count = countOf(this.schedule, from, to);
    return Object.freeze({ from: new Date(from), to: new Date(to), count, mayHaveRun: from < this.#doubtfulUpTo });
  }

  /** Reports what is due up to this occurrence, if any. No replica starts it any more. */
  #skip(upTo: number | undefined): void {
    if (upTo === undefined) return;
    this.#report('late', this.#lastSettled, upTo);
    this.parts.term.set({ lastScheduledAt: upTo });
  }

  /**
   * Reports the occurrences of a window once: dropped, if they came due while a run was in flight, or missed, if there
   * are some.
   */
  #report(reason: Reason<'occurrencesMissed'>, after: number, upTo: number, schedule = this.schedule): void {
    const { runs, job, notify } = this.parts;
    const [from, to, count] = [new Date(after), new Date(upTo), countOf(schedule, after, upTo)];
    if (runs.isBusy || this.#hasWaited)
      notify('tickDropped', { job: job.name, kind: 'cron', reason: 'overlap', scheduledAt: to, count });
    else if (count > 0) notify('occurrencesMissed', { job: job.name, reason, from, to, count });
  }

  /** The newest occurrence up to an instant that is neither claimed nor reported. */
  #newestDue(upTo: number): number | undefined {
    const newest = this.schedule.latest(upTo);
    return newest !== undefined && newest > this.#lastSettled ? newest : undefined;
  }
}

function countOf(schedule: CronSchedule, after: number, upTo: number): number {
  let count = 0;
  for (let at = schedule.next(after); at !== undefined && at <= upTo && count < COUNT_LIMIT; count++)
    at = schedule.next(at);
  return count;
}
