import { type LockHandle } from '../../libs/singleton-job/src/locks/lock-handle.js';
import { type LockService } from '../../libs/singleton-job/src/locks/lock.service.js';
import { type Chance } from './chance.js';
import { type ProcessClock } from './process-clock.js';
import { type Recorder } from './recorder.js';
import { type Timeline } from './timeline.js';

/** The lock that the processes of a scenario take beside their jobs. */
export const LOCK = 'lock/shared';

const WAIT_MS = 60_000;
const LONGEST_HOLD_MS = 2_000;
const LONGEST_PAUSE_MS = 3_000;

/** Who holds the lock, and who waits for it. */
export class LockWatch {
  readonly #holders = new Map<string, LockHandle>();
  readonly #waitsSince = new Map<string, number>();
  #takenMs = 0;

  constructor(
    private readonly timeline: Timeline,
    private readonly recorder: Recorder,
  ) {}

  waits(process: string): void {
    this.#waitsSince.set(process, this.timeline.nowMs);
  }

  /** The wait is over, with or without the lock. */
  answered(process: string, handle?: LockHandle): void {
    this.#waitsSince.delete(process);
    if (handle === undefined) return;
    const { nowMs: atMs } = this.timeline;
    this.recorder.note(`${process} takes ${LOCK} with token ${String(handle.fencingToken)}`);
    for (const [other, held] of this.#holders) {
      if (other !== process && held.isHeld())
        this.recorder.doubleLeads.push({ job: LOCK, processes: [other, process], atMs });
    }
    this.recorder.grants.push({ lock: LOCK, process, token: handle.fencingToken, atMs });
    this.#holders.set(process, handle);
    this.#takenMs = atMs;
  }

  ended(process: string): void {
    this.#waitsSince.delete(process);
    this.#holders.delete(process);
  }

  /** Whether a request of one of these processes waits since then and no process has taken the lock. */
  isStuckSince(sinceMs: number, processes: ReadonlySet<string>): boolean {
    const isHeld = [...this.#holders.values()].some((handle) => handle.isHeld());
    const waiting = [...this.#waitsSince].filter(([process, waitsMs]) => waitsMs <= sinceMs && processes.has(process));
    return !isHeld && this.#takenMs < sinceMs && waiting.length > 0;
  }
}

interface LockUserParts {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly locks: LockService;
  readonly chance: Chance;
  readonly watch: LockWatch;
  readonly expiryMs: number;
}

/** Takes the lock, holds it for a while and releases it, again and again. */
export async function useLock({ name, clock, locks, chance, watch, expiryMs }: LockUserParts): Promise<void> {
  const pause = (mostMs: number): Promise<void> =>
    new Promise((resolve) => clock.setTimer(chance.between(1, mostMs), resolve));
  for (;;) {
    await pause(LONGEST_PAUSE_MS);
    watch.waits(name);
    // without an answer it is not known whether the lock is free
    const handle = await locks.tryAcquire('shared', { expiry: expiryMs, wait: WAIT_MS }).catch(() => null);
    watch.answered(name, handle ?? undefined);
    if (handle === null) continue;
    await pause(LONGEST_HOLD_MS);
    await handle.release();
  }
}
