import { type CalmCheck } from './calm.js';
import { leaderBoundMs, lockBoundMs } from './leader-bounds.js';
import { JOBS, type JobName, keepsInterval, type Plan } from './plan.js';
import { type Recorder } from './recorder.js';
import { LOCK, type LockWatch } from './simulated-locks.js';
import { type SimulatedServer } from './simulated-server.js';

/** A process that may lead. */
export interface Candidate {
  /** Whether it has competed for a job since then, is not halted, and reaches the store. */
  couldLeadSince(job: string, sinceMs: number): boolean;
  /** Whether it is not halted, and its network is good. */
  readonly reachesStore: boolean;
  /** Whether it has the lock, and is not halted. */
  isLeading(job: string): boolean;
}

interface CalmParts {
  readonly plan: Plan;
  readonly recorder: Recorder;
  readonly server: SimulatedServer;
  readonly locks: LockWatch;
}

/** How much slower than the store a clock of this simulation may be. */
const DRIFT = 1.01;

/** What must be true of the jobs in a calm. */
export function calmChecks(parts: CalmParts): readonly CalmCheck[] {
  return [
    ...JOBS.map((job) => leaderCheck(job, parts)),
    ...(keepsInterval(parts.plan.setting) ? [intervalCheck(parts)] : []),
    ...(parts.plan.setting.lockExpiryMs === undefined ? [] : [lockCheck(parts)]),
  ];
}

/** A job has a leader if a process competes for it. */
function leaderCheck(job: JobName, { plan, recorder, server }: CalmParts): CalmCheck {
  return {
    boundMs: (calmFromMs) => leaderBoundMs(plan, job, calmFromMs),
    check: (calmFromMs) => {
      const processes = [...recorder.living];
      const mayBeLed = server.isWell && server.data.snapshot().states.get(job)?.pausedAt === undefined;
      if (processes.some((process) => process.isLeading(job)) || !mayBeLed || recorder.handOvers.isUnderWay(job))
        return;
      if (processes.some((process) => process.couldLeadSince(job, calmFromMs)))
        recorder.missed('no-leader', job, calmFromMs);
    },
  };
}

/** An interval job runs again after its delay, also if its leader has just changed. */
function intervalCheck({ plan, recorder }: CalmParts): CalmCheck {
  const job = 'pause';
  return {
    boundMs: (calmFromMs) => leaderBoundMs(plan, job, calmFromMs) + plan.setting.delayMs * DRIFT,
    check: (calmFromMs) => {
      if (!recorder.isLed(job)) return;
      const hasRun = recorder.runs.some((run) => run.job === job && (run.endedMs ?? Infinity) > calmFromMs);
      if (!hasRun) recorder.missed('no-run', job, calmFromMs);
    },
  };
}

/** A process that waits for a lock gets it when the last holder has released it, or its life is over. */
function lockCheck({ plan, recorder, server, locks }: CalmParts): CalmCheck {
  return {
    boundMs: () => lockBoundMs(plan),
    check: (calmFromMs) => {
      const reaching = new Set([...recorder.living].filter((one) => one.reachesStore).map(({ name }) => name));
      if (server.isWell && locks.isStuckSince(calmFromMs, reaching)) recorder.missed('no-leader', LOCK, calmFromMs);
    },
  };
}
