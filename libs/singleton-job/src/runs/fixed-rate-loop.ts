import { type Reason } from '../base/events/events.js';
import { type FixedRateSchedule } from '../schedule/schedule.js';
import { type TickLoopParts } from './tick-loop.js';

/**
 * Fires at the slots of the grid. The next slot is computed from the last slot, never as now plus the period. The clock
 * is read again at every turn: a timer that fires early sleeps again, and after a blocked event loop one late tick is
 * fired.
 */
export async function fixedRateLoop(schedule: FixedRateSchedule, parts: TickLoopParts): Promise<void> {
  const { clock, sleeper, term, runs, job } = parts;
  const { periodMs, offsetMs } = schedule;
  const supersedes = job.overlap === 'cancel-other';
  const slotOf = (tick: number): number => Math.floor((tick - offsetMs) / periodMs);
  const startedAt = clock.wallNow();
  // The slot that the last leader fired is not fired again. A slot far ahead comes from a wrong clock and is ignored.
  const { lastScheduledAt: slot = 0 } = term.fields;
  let last = slot <= startedAt + periodMs ? Math.max(slot, startedAt) : startedAt;
  /** The newest tick, until it is fired: when a superseded run has ended. */
  let waiting: number | undefined;

  while (!sleeper.isOver) {
    if (waiting !== undefined && !(supersedes && runs.isBusy)) {
      fire(waiting, parts);
      waiting = undefined;
    }
    const now = clock.wallNow();
    if (last > now + periodMs) last = now; // the wall clock was set back: start from its new time
    const due = schedule.next(last);
    if (now < due) {
      await sleeper.sleep(due - now, waiting === undefined ? undefined : runs.whenIdle());
      continue;
    }
    last = schedule.latest(now);
    const missed = slotOf(last) - slotOf(due);
    if (missed > 0) drop(parts, 'late', schedule.latest(last - 1), missed);
    if (waiting !== undefined) drop(parts, 'overlap', waiting, 1);
    if (supersedes) runs.inFlight?.abort('SUPERSEDED');
    waiting = last;
  }
  if (waiting !== undefined) drop(parts, 'overlap', waiting, 1);
}

/** Starts the run of a slot, or drops it. */
function fire(slot: number, parts: TickLoopParts): void {
  const { runs, term } = parts;
  const isValid = term.isValid();
  // confirms the lease before the next tick, or ends the term and aborts the run
  if (!isValid) void term.untilValid();
  if (runs.isBusy) drop(parts, 'overlap', slot, 1);
  else if (!isValid) drop(parts, 'lease-unconfirmed', slot, 1);
  else {
    term.set({ lastScheduledAt: slot });
    runs.start({ term, scheduledAt: slot, cause: 'schedule' });
  }
}

function drop({ job, notify }: TickLoopParts, reason: Reason<'tickDropped'>, scheduledAt: number, count: number): void {
  notify('tickDropped', { job: job.name, kind: 'fixed-rate', reason, scheduledAt: new Date(scheduledAt), count });
}
