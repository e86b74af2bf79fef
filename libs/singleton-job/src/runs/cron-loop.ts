import { type CronSchedule } from '../schedule/schedule.js';
import { CronClaims, ON_TIME_MS } from './cron-claims.js';
import { MAX_SLEEP_MS, type TickLoopParts } from './tick-loop.js';

/**
 * Fires cron occurrences. Each is claimed in the record of the job right before its run, so that no other replica starts it, even if the clocks
 * differ.
 *
 * A tick on time goes by the wall clock of this replica. The store's clock decides what was missed and what may still run after a change
 * of leader and after a late wake-up: a blocked event loop, a clock that was stepped or is far behind, a suspended host.
 */
export async function cronLoop(schedule: CronSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, quit, sleeper, term, runs, job } = parts;
  const claims = new CronClaims(schedule, parts);
  claims.reportBacklog();
  // A clock that is behind must not delay an occurrence past its grace. The store's clock takes over when it is behind by half the grace.
  const patienceMs = Math.max(job.misfireGraceMs, ON_TIME_MS) / 2;
  let claimed = term.own.lastScheduledAt ?? term.storeNow();
  let isPromotion = true;
  let hasWaited = false;

  while (!quit.aborted) {
    const due = schedule.next(claimed) ?? Infinity;
    const wall = clock.wallNow();
    const isFarBehind = term.storeNow() - wall > patienceMs;
    const untilDueMs = due - (isFarBehind ? term.storeNow() : wall);
    if (!isPromotion && untilDueMs > 0) {
      await sleeper.sleep(Math.min(untilDueMs, MAX_SLEEP_MS));
      continue;
    }
    if (!term.isValid()) {
      await sleeper.sleep(MAX_SLEEP_MS, term.untilValid());
      continue;
    }
    const isOnTime = !isPromotion && wall >= due && wall - due <= ON_TIME_MS;
    const now = (): number => (isOnTime ? clock.wallNow() : term.storeNow());
    const newest = schedule.latest(claimed, now());
    if (newest === undefined) {
      // due by this replica's clock but not by the store's, which decides after a late wake-up
      if (!isPromotion) await sleeper.sleep(Math.min(due - term.storeNow(), ON_TIME_MS));
      isPromotion = false;
    } else if (runs.isBusy && job.overlap === 'cancel-other') {
      runs.abort('SUPERSEDED');
      hasWaited = true;
      const pushedAside = schedule.latest(claimed, newest - 1);
      if (pushedAside !== undefined) {
        claimed = claims.drop(claimed, pushedAside);
      }
      const nextMs = (schedule.next(newest) ?? Infinity) - now();
      await sleeper.sleep(Math.min(Math.max(nextMs, 1), MAX_SLEEP_MS), runs.whenIdle());
    } else {
      const isMisfire = isPromotion || (!hasWaited && now() - newest > ON_TIME_MS);
      const cause = isMisfire ? 'misfire' : 'schedule';
      claimed = await claims.claimAndRun({ after: claimed, newest, now, isPromotion, cause, hasWaited });
      isPromotion = false;
      hasWaited = false;
    }
  }
}
