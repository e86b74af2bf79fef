import { type TickDropReason } from '../events/index.js';
import { type GridSchedule } from '../schedule/index.js';
import { sleep } from '../time/index.js';
import { LOOK_AGAIN_MS, type PaceParts } from './tick-loop.js';
import { nap } from './waiting.js';

/**
 * Fires at the slots of the grid. The next slot is computed from the slot before, never from now plus the period, and
 * the clock is read again at every turn: a timer that woke early sleeps on, a loop that was blocked fires one late tick.
 */
export async function paceFixedRate(schedule: GridSchedule, parts: PaceParts): Promise<void> {
  const { clock, quit, term, lane, job } = parts;
  const { periodMs } = schedule;
  const startedAt = clock.wallNow();
  // the slot that the last leader fired is not fired again; one far ahead comes from a clock that was wrong
  const last = term.newestClaimedBefore;
  let cursor = last <= startedAt + periodMs ? Math.max(last, startedAt) : startedAt;
  /** The newest tick that waits for a superseded run to settle. */
  let waiting: number | undefined;

  while (!quit.aborted) {
    if (waiting !== undefined && !lane.isBusy) {
      fire(waiting, parts);
      waiting = undefined;
    }
    const now = clock.wallNow();
    if (cursor > now + periodMs) cursor = now; // the wall clock was stepped back: anchor anew
    const due = schedule.next(cursor);
    if (now < due) {
      const delayMs = Math.min(due - now, LOOK_AGAIN_MS);
      await (waiting === undefined ? sleep(clock, delayMs, quit) : nap({ clock, delayMs, quit, until: lane.free() }));
      continue;
    }
    cursor = schedule.latest(now);
    const missed = (cursor - due) / periodMs;
    if (missed > 0) drop(parts, 'late', cursor - periodMs, missed);
    if (job.overlap === 'cancel-other' && lane.isBusy) {
      if (waiting !== undefined) drop(parts, 'overlap', waiting, 1);
      lane.abort('SUPERSEDED');
      waiting = cursor;
    } else {
      fire(cursor, parts);
    }
  }
  if (waiting !== undefined) drop(parts, 'overlap', waiting, 1);
}

/** Starts the run of a slot, or drops it. */
function fire(slot: number, parts: PaceParts): void {
  const { lane, term } = parts;
  const isTrusted = term.isTrusted();
  // asked for now, the answer is there before the next tick, and a run that goes on without a lease is told so
  if (!isTrusted) void term.untilTrusted();
  if (lane.isBusy) drop(parts, 'overlap', slot, 1);
  else if (!isTrusted) drop(parts, 'lease-unconfirmed', slot, 1);
  else {
    term.known.settled(slot);
    lane.start({ scheduledAt: slot, cause: 'schedule' }, term);
  }
}

function drop({ job, notify }: PaceParts, reason: TickDropReason, scheduledAt: number, count: number): void {
  notify('tickDropped', { job: job.name, kind: 'fixed-rate', reason, scheduledAt: new Date(scheduledAt), count });
}
