import { lockLifeMs } from '../../../libs/singleton-job/src/store/index.js';
import { type Fault, JOBS, type JobName, longestExpiryMs, safetyMarginMs, type Setting } from './plan.js';
import { type Window } from './rules.js';

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
/** Followers send requests at random moments: of four replicas, each one within this time. */
const SAFETY_NET_MS = 3 * 1.5 * 60_000;
/** What the clocks of this simulation may drift apart in a lease. */
const DRIFT = 1.005;

/**
 * What a fault lets happen that the promises exclude, and for how long. Of a fault of a process: in that process alone.
 * A restart of the store is no reason for two leaders, whatever data it comes back with.
 */
export function windowsOf(fault: Fault, setting: Setting): readonly WindowOfFault[] {
  const longestMs = longestExpiryMs(setting) * DRIFT;
  switch (fault.kind) {
    case 'flush-all':
      return afterLoss(setting, { forMs: 0, lostMs: Infinity });
    case 'restart-empty':
      return afterLoss(setting, { forMs: fault.downForMs, lostMs: Infinity });
    case 'restart-older':
      return afterLoss(setting, { forMs: fault.downForMs, lostMs: fault.forMs });
    case 'lock-deleted':
      return [
        { ...lead(untilRenewalMs(setting, fault.job)), job: fault.job },
        // a request that comes late may take the lock for a replica that no longer waits for it
        { rules: ['no-leader'], forMs: SAFETY_NET_MS, job: fault.job },
      ];
    case 'state-deleted':
      return [{ ...claim(setting, { forMs: 0, lostMs: Infinity }), job: fault.job }];
    case 'store-clock-step':
      return JOBS.flatMap((job) => afterStep(fault.byMs, job, expiryMs(setting, job)));
    case 'pause':
    case 'block':
      // its signal fires when it goes on, and then its run settles
      return [{ rules: ['two-runs'], forMs: fault.forMs + safetyMarginMs(longestMs), ofEarlierRuns: true }];
    case 'suspend':
      // the timer of a run stood still with the host
      return [{ rules: ['two-runs'], forMs: fault.forMs + longestMs, ofEarlierRuns: true }];
    case 'freeze':
      // neither clock shows that it was suspended
      return [lead(fault.forMs + longestMs)];
    // what a lease is made for
    case 'kill':
    case 'crash':
    case 'stop':
    case 'step-down':
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
  return { rules: ['ended-lease', 'two-leaders', 'two-runs'], forMs };
}

interface Loss {
  /** How long the store is down after it. */
  readonly forMs: number;
  /** What was written in this time before it is lost. */
  readonly lostMs: number;
}

/**
 * Until the old leader's next renewal, or, if that cannot be answered, the end of its lease. While it is blocked it renews nothing, and
 * a heartbeat thread keeps its session: then until the end of its trust in the lock.
 */
function untilRenewalMs(setting: Setting, job: JobName): number {
  const ms = expiryMs(setting, job);
  return setting.threads.includes(true) ? lockLifeMs(ms) : RENEWAL_MS + ms;
}

/** The leader goes on until its lease ends, although the store does not know of it. Claims may be lost. */
function afterLoss(setting: Setting, loss: Loss): readonly WindowOfFault[] {
  return [{ rules: ['ended-lease'], forMs: longestExpiryMs(setting) * DRIFT }, claim(setting, loss)];
}

/** An occurrence whose claim is lost may start for as long as its grace lets it. */
function claim(setting: Setting, { forMs, lostMs }: Loss): WindowOfFault {
  const untilMs = forMs + longestExpiryMs(setting) * DRIFT + setting.misfireGraceMs;
  return { rules: ['started-twice'], forMs: untilMs, firstStartedWithinMs: lostMs };
}

/** Sessions end early when the clock of the store is set ahead. With a large step locks do too. */
function afterStep(byMs: number, job: JobName, expiryMs: number): readonly WindowOfFault[] {
  if (byMs <= 0) return [];
  const forMs = byMs < 2 * RENEWAL_MS ? expiryMs * DRIFT : RENEWAL_MS + expiryMs;
  // a small step takes a part of the margin in which runs settle
  return byMs < 0.04 * expiryMs ? [{ rules: ['two-runs'], forMs, job }] : [{ ...lead(forMs), job }];
}

function expiryMs({ version, next }: Setting, job: JobName): number {
  return Math.max(version.lockExpiryMs[job], next.lockExpiryMs[job]);
}
