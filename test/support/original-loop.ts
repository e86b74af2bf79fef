import { type AnySchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { type Clock, sleep } from '../../libs/singleton-job/src/time/index.js';
import { type OriginalVersion } from './original-belief.js';

export interface LoopParts {
  readonly version: OriginalVersion;
  readonly schedule: AnySchedule;
  readonly clock: Clock;
  /** Aborts when the node stops: no run starts from then on. */
  readonly stop: AbortSignal;
  /** Runs the job for a tick if this node believes that it leads and nothing is in flight. Settles with the run; never rejects. */
  readonly tick: (scheduledAt: number) => Promise<void>;
}

/** As long as it sleeps towards an instant of the wall clock before it looks again. */
const SLICE_MS = 24 * 3_600_000;

/** The job loop of the original: it ticks on leaders and followers alike, and each tick asks whether this node leads. */
export async function originalLoop(parts: LoopParts): Promise<void> {
  const { schedule } = parts;
  if (schedule.kind === 'fixed-rate') await periodicTimer(schedule.periodMs, parts);
  else if (schedule.kind === 'interval') await runAndWait(schedule.delayMs, parts);
  else await occurrences((after) => schedule.next(after), parts);
}

/** Ticks at multiples of the period since the start of this node; a loop that is late has at most one tick waiting. */
async function periodicTimer(periodMs: number, { clock, stop, tick }: LoopParts): Promise<void> {
  for (let due = clock.now() + periodMs; ; due += periodMs) {
    while (clock.now() < due && !stop.aborted) await sleep(clock, due - clock.now(), stop);
    if (stop.aborted) return;
    due += Math.floor((clock.now() - due) / periodMs) * periodMs;
    void tick(clock.wallNow());
  }
}

/** Followers wait whole intervals too. */
async function runAndWait(delayMs: number, { clock, stop, tick }: LoopParts): Promise<void> {
  while (!stop.aborted) {
    await tick(clock.wallNow());
    await sleep(clock, delayMs, stop);
  }
}

/** 1.0.0 replays what came due during a run, main skips it. Neither looks at what came due while nobody led. */
async function occurrences(
  next: (after: number) => number | undefined,
  { version, clock, stop, tick }: LoopParts,
): Promise<void> {
  let due = next(clock.wallNow());
  while (due !== undefined && !stop.aborted) {
    const waitMs = due - clock.wallNow();
    if (waitMs > 0) {
      await sleep(clock, Math.min(waitMs, SLICE_MS), stop);
      continue;
    }
    await tick(due);
    due = next(version === '1.0.0' ? due : Math.max(due, clock.wallNow()));
  }
}
