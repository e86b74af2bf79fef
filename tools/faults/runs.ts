import { type Open, type WitnessedRun } from '../../test/support/checker.js';
import { type Leases } from './leases.js';
import { SAFETY_MARGIN_MS } from './settings.js';
import { type Testimony, type WitnessedEvent } from './testimony.js';

type OpenRun = Open<WitnessedRun>;

/**
 * A run of a process that was killed ended with the kill, or with its last words if those were later, whenever its end was
 * heard of; of one that died otherwise, when that was certain. One of a process that stood still meanwhile is marked, whether
 * the test made it stand still or the machine did.
 */
export function runsIn(record: readonly Testimony[], leases: Leases): WitnessedRun[] {
  const runs: OpenRun[] = [];
  const inFlight = new Map<string, OpenRun>();
  const standing = new Set<string>();
  const killedAtMs = new Map<string, number>();
  const lastWordsMs = new Map<string, number>();
  const ofProcess = (replica: string): [string, OpenRun][] =>
    [...inFlight].filter(([, { process }]) => process === replica);
  const standStill = ({ replica }: Testimony): void => {
    standing.add(replica);
    for (const [, open] of ofProcess(replica)) open.stoodStill = true;
  };
  const goOn = ({ replica }: Testimony): void => {
    standing.delete(replica);
  };
  const stoodStill = ({ replica, atMs, monoMs = atMs, blockedMs = 0 }: Testimony): void => {
    if (blockedMs < SAFETY_MARGIN_MS) return;
    for (const run of runs) {
      if (run.process === replica && (run.endedMs ?? Infinity) > monoMs - blockedMs) run.stoodStill = true;
    }
  };
  const killed = ({ replica, atMs }: Testimony): void => {
    killedAtMs.set(replica, atMs);
  };
  const die = ({ replica, atMs }: Testimony): void => {
    const killMs = killedAtMs.get(replica);
    for (const [key, open] of ofProcess(replica)) {
      open.endedMs = killMs === undefined ? atMs : Math.max(killMs, lastWordsMs.get(replica) ?? 0, open.startedMs);
      inFlight.delete(key);
    }
  };
  const heard: Partial<Record<WitnessedEvent, (testimony: Testimony) => void>> = {
    runBegan: (testimony) => {
      const began: OpenRun = begunBy(testimony, leases);
      if (standing.has(testimony.replica)) began.stoodStill = true;
      runs.push(began);
      inFlight.set(keyOf(testimony), began);
    },
    abortSeen: (testimony) => {
      const open = inFlight.get(keyOf(testimony));
      if (open !== undefined) open.abortedMs = testimony.atMs;
    },
    runEnded: (testimony) => {
      const open = inFlight.get(keyOf(testimony));
      if (open !== undefined) open.endedMs = testimony.atMs;
      inFlight.delete(keyOf(testimony));
    },
    stopped: standStill,
    blocked: standStill,
    resumed: goOn,
    unblocked: goOn,
    loopBlocked: stoodStill,
    killed,
    exited: die,
  };
  for (const testimony of record) {
    const { event, replica, monoMs } = testimony;
    if (monoMs !== undefined) lastWordsMs.set(replica, monoMs);
    heard[event]?.(testimony);
  }
  return runs;
}

function begunBy(
  { atMs, replica, job = '', token = 0, scheduledAt = 0, monoMs = atMs }: Testimony,
  leases: Leases,
): OpenRun {
  return {
    job,
    process: replica,
    fencingToken: token,
    scheduledAt,
    startedMs: atMs,
    heldLock: leases.covers({ process: replica, job, fencingToken: token }, monoMs),
    ...(job === 'stubborn' && { ignoresSignal: true }),
  };
}

function keyOf({ replica, run }: Testimony): string {
  return `${replica} ${String(run)}`;
}
