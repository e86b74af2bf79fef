import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type IntervalSchedule } from '../schedule/index.js';
import { sleep } from '../time/index.js';
import { type PaceParts } from './pace.js';
import { unlessAborted } from './waiting.js';

/**
 * Runs, waits, runs: counted from the end of each run on the monotonic clock, and across leaders by the store's, so that
 * a hand-over neither shortens the gap nor starts a long interval anew. With no known end it runs at once.
 */
export async function paceInterval(schedule: IntervalSchedule, parts: PaceParts): Promise<void> {
  const { clock, quit, term, lane } = parts;
  const firstDue = firstDueOf(schedule, parts);

  while (!quit.aborted) {
    // a run that somebody triggered is one like any other: the next comes a delay after its end
    const due = Math.max(firstDue, schedule.next(lane.endedAtMs));
    const waitMs = due - clock.now();
    if (lane.isBusy) await lane.free();
    else if (waitMs > 0) await sleep(clock, waitMs, quit);
    else if (!term.isTrusted()) await unlessAborted(term.confirmation(), quit);
    else lane.start({ scheduledAt: clock.wallNow() + waitMs, cause: 'schedule' }, term);
  }
}

/** A run has settled, which those who lead later have to know. */
export function noteIntervalEnd({ schedule, lockExpiryMs }: JobDefinition, term: Term): void {
  if (schedule.kind !== 'interval') return;
  term.memory.ended();
  // a gap that outlives the lock would be forgotten by a kill before the next heartbeat; a short one ends by itself
  if (schedule.delayMs > lockExpiryMs) void term.renewAfresh();
}

/** After the gap since the last run anywhere, as Redis knows it, and since the last one here, which it may not know. */
function firstDueOf(schedule: IntervalSchedule, { clock, term }: PaceParts): number {
  const now = clock.now();
  const { endAgeMs } = term.grant;
  const { endedAtMs } = term.memory;
  return Math.max(
    now,
    endAgeMs === undefined ? now : schedule.next(now - endAgeMs),
    endedAtMs === undefined ? now : schedule.next(endedAtMs),
  );
}
