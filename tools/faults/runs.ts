import { type WitnessedRun } from '../../test/support/checker.js';
import { type Leases } from './leases.js';
import { type Testimony, type WitnessedEvent } from './testimony.js';

type OpenRun = { -readonly [K in keyof WitnessedRun]: WitnessedRun[K] };

/** A run of a process that died ended when that was certain, for its last words may come after the kill; one of a process that stood still meanwhile is marked. */
export function runsIn(record: readonly Testimony[], leases: Leases): WitnessedRun[] {
  const runs: OpenRun[] = [];
  const inFlight = new Map<string, OpenRun>();
  const standing = new Set<string>();
  const ofProcess = (replica: string): [string, OpenRun][] =>
    [...inFlight].filter(([, { process }]) => process === replica);
  const standStill = ({ replica }: Testimony): void => {
    standing.add(replica);
    for (const [, open] of ofProcess(replica)) open.stoodStill = true;
  };
  const goOn = ({ replica }: Testimony): void => {
    standing.delete(replica);
  };
  const die = ({ replica, atMs }: Testimony): void => {
    for (const [key, open] of ofProcess(replica)) {
      open.endedMs = atMs;
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
    exited: die,
  };
  for (const testimony of record) heard[testimony.event]?.(testimony);
  return runs;
}

function begunBy(
  { atMs, replica, job = '', token = 0, scheduledAt = 0, monoMs = 0 }: Testimony,
  leases: Leases,
): OpenRun {
  return {
    job,
    process: replica,
    fencingToken: token,
    scheduledAt,
    startedMs: atMs,
    heldLock: leases.covers(replica, job, monoMs),
    ...(job === 'stubborn' && { ignoresSignal: true }),
  };
}

function keyOf({ replica, run }: Testimony): string {
  return `${replica} ${String(run)}`;
}
