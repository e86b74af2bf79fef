import { CLAIM_LEAD_MS, lockLifeMs } from '../../libs/singleton-job/src/store/lock-store.js';
import {
  type Fault,
  JOBS,
  type JobName,
  longestExpiryMs,
  type Plan,
  safetyMarginMs,
  setBackMs,
  type Setting,
} from './plan.js';
import { type Window } from './history.js';
import { LOCK } from './simulated-locks.js';

/** A window that begins when its fault is injected, or for `restart-older` when the writes are lost. */
export type WindowOfFault = Omit<Window, 'fromMs' | 'untilMs' | 'process' | 'firstStarted' | 'startedBy'> & {
  readonly forMs: number;
  /** Only runs that were started before the fault. */
  readonly ofEarlierRuns?: boolean;
  /** Only occurrences that were first started so long before, or later. */
  readonly firstStartedWithinMs?: number;
};

/** Locks are renewed so often. */
const RENEWAL_MS = 10_000;
/** How far the clocks of this simulation may drift apart during a lease. */
const DRIFT = 1.005;

/**
 * Which rules a fault may break, because the promises exclude it, and for how long. A fault of a process: only in that process.
 * A restart of the store is never a reason for two leaders, whatever data it comes back with.
 */
export function windowsOf(fault: Fault, plan: Plan): readonly WindowOfFault[] {
  const { setting } = plan;
  const longestMs = longestExpiryMs(setting) * DRIFT;
  switch (fault.kind) {
    case 'flush-all':
      return afterLoss(plan, { forMs: 0, lostMs: Infinity });
    case 'restart-empty':
      return afterLoss(plan, { forMs: fault.downForMs, lostMs: Infinity });
    case 'restart-older':
      return afterLoss(plan, { forMs: fault.downForMs, lostMs: fault.forMs });
    case 'lock-deleted':
      return [{ ...lead(untilRenewalMs(setting, fault.job)), job: fault.job }];
    case 'node-failover':
      return fault.lostMs === 0 ? [] : afterNodeLoss(fault, plan);
    case 'state-deleted':
      return [
        { ...claim(plan, { forMs: 0, lostMs: Infinity }), job: fault.job },
        { rules: ['run-too-early'], forMs: longestExpiryMs(setting) * DRIFT + setting.delayMs, job: fault.job },
      ];
    case 'store-clock-step':
      return [
        ...JOBS.flatMap((job) => afterStep(fault.byMs, job, setting)),
        // the end of the last run seems to be long ago
        ...(fault.byMs > 0
          ? [{ rules: ['run-too-early'], forMs: Infinity, job: 'pause' } as const, ...afterLossOfLock(plan, 0)]
          : []),
      ];
    case 'pause':
    case 'block':
      // its signal fires when it continues, and then its run settles
      return [{ rules: ['two-runs'], forMs: fault.forMs + safetyMarginMs(longestMs), ofEarlierRuns: true }];
    case 'suspend':
      // the timer of a run stopped with the host
      return [
        { rules: ['two-runs'], forMs: fault.forMs + longestMs, ofEarlierRuns: true },
        withSlowStoreTime(fault.forMs, setting),
      ];
    case 'freeze':
      // neither clock shows that it was suspended
      return [lead(fault.forMs + longestMs), withSlowStoreTime(fault.forMs, setting)];
    // a lease covers this fault
    case 'kill':
    case 'exit':
    case 'crash':
    case 'stop':
    case 'step-down':
    case 'unregister':
    case 'pause-job':
    case 'clock-step':
    case 'cut':
    case 'network':
    case 'network-for-all':
    case 'store-hangs':
    case 'store-refuses':
    case 'restart':
    case 'sessions-deleted':
      return [];
  }
}

function lead(forMs: number): WindowOfFault {
  return { rules: ['ended-lease', 'two-leaders', 'two-runs', 'run-too-early'], forMs };
}

interface Loss {
  /** How long the store is down after it. */
  readonly forMs: number;
  /** The writes in this time before it are lost. */
  readonly lostMs: number;
}

/**
 * Until the next renewal of the old leader. If that gets no answer, until the end of its lease. A blocked leader renews nothing, and its
 * heartbeat thread keeps its session: then until it no longer trusts the lock.
 */
function untilRenewalMs(setting: Setting, job: JobName): number {
  const ms = expiryMs(setting, job);
  return setting.threads.includes(true) ? lockLifeMs(ms) : RENEWAL_MS + ms;
}

/** The leader continues until its lease ends, although the store does not know of it. Claims may be lost. */
function afterLoss(plan: Plan, loss: Loss): readonly WindowOfFault[] {
  const { setting } = plan;
  const expiryMs = longestExpiryMs(setting) * DRIFT;
  return [
    ...afterLossOfLock(plan, loss.forMs),
    // the node of the locks does not see a break that only the node of the sessions has noted
    ...(setting.isCluster ? JOBS.map((job) => ({ ...lead(loss.forMs + untilRenewalMs(setting, job)), job })) : []),
    { rules: ['ended-lease'], forMs: expiryMs },
    { rules: ['run-too-early'], forMs: loss.forMs + expiryMs + setting.delayMs, job: 'pause' },
    claim(plan, loss),
  ];
}

/** No heartbeat shows that the node of the locks lost them. The sessions alone are no reason for two leaders. */
function afterNodeLoss(
  { node, lostMs, downForMs }: Extract<Fault, { readonly kind: 'node-failover' }>,
  plan: Plan,
): readonly WindowOfFault[] {
  const { setting } = plan;
  const longestMs = longestExpiryMs(setting) * DRIFT;
  if (node === 'sessions') return [{ rules: ['ended-lease'], forMs: downForMs + longestMs }];
  const tooEarlyMs = downForMs + longestMs + setting.delayMs;
  return [
    ...JOBS.map((job) => ({ ...lead(downForMs + untilRenewalMs(setting, job)), job })),
    { rules: ['run-too-early'], forMs: tooEarlyMs, job: 'pause' },
    claim(plan, { forMs: downForMs, lostMs }),
    ...afterLossOfLock(plan, downForMs),
  ];
}

/**
 * A lock of `LockService` is lost. A process that did not know of it may take it at once. Tokens fall if the clock of the store, from which
 * a new one is made, was set back as well.
 */
function afterLossOfLock({ setting, faults }: Plan, downForMs: number): readonly WindowOfFault[] {
  const { lockExpiryMs } = setting;
  if (lockExpiryMs === undefined) return [];
  const tokens: WindowOfFault = { rules: ['token-fell'], forMs: Infinity, job: LOCK };
  return [
    { rules: ['two-leaders'], forMs: downForMs + lockExpiryMs * DRIFT, job: LOCK },
    ...(setBackMs(faults) > 0 ? [tokens] : []),
  ];
}

/**
 * An occurrence whose claim is lost may start within its `misfireGrace`, by a clock of the store that may be set back. A clock that is ahead
 * had claimed it before it came due.
 */
function claim(plan: Plan, { forMs, lostMs }: Loss): WindowOfFault {
  const { setting, faults } = plan;
  const graceMs = setting.misfireGraceMs + setBackMs(faults) + claimedAheadMs(plan);
  const untilMs = forMs + longestExpiryMs(setting) * DRIFT + graceMs;
  return { rules: ['started-twice'], forMs: untilMs, firstStartedWithinMs: lostMs };
}

/** How long before its time an occurrence may be claimed. */
function claimedAheadMs({ clocks, faults }: Plan): number {
  const aheadMs = Math.max(
    ...[...clocks, ...faults.flatMap((fault) => ('clock' in fault ? [fault.clock] : []))].map((clock) => clock.aheadMs),
  );
  const stepsMs = faults.reduce((sum, fault) => sum + (fault.kind === 'clock-step' ? Math.max(fault.byMs, 0) : 0), 0);
  return Math.min(Math.max(aheadMs, 0) + stepsMs, CLAIM_LEAD_MS);
}

/** Until its next renewal a process that was suspended takes the time of the store, and so the end of a run, to be earlier than it is. */
function withSlowStoreTime(suspendedMs: number, setting: Setting): WindowOfFault {
  const forMs = suspendedMs + RENEWAL_MS + setting.delayMs + expiryMs(setting, 'pause');
  return { rules: ['run-too-early'], forMs, job: 'pause' };
}

/** Sessions end early when the clock of the store is set ahead. With a large step locks do too. */
function afterStep(byMs: number, job: JobName, setting: Setting): readonly WindowOfFault[] {
  if (byMs <= 0) return [];
  const longestMs = expiryMs(setting, job);
  const shortestMs = Math.min(setting.version.lockExpiryMs[job], setting.next.lockExpiryMs[job]);
  const forMs = byMs < 2 * RENEWAL_MS ? longestMs * DRIFT : RENEWAL_MS + longestMs;
  // a small step uses a part of the margin in which runs settle
  return byMs < 0.04 * shortestMs ? [{ rules: ['two-runs'], forMs, job }] : [{ ...lead(forMs), job }];
}

function expiryMs({ version, next }: Setting, job: JobName): number {
  return Math.max(version.lockExpiryMs[job], next.lockExpiryMs[job]);
}
