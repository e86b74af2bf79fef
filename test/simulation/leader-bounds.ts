import { lockLifeMs } from '../../libs/singleton-job/src/store/lock-store.js';
import { type Fault, type JobName, type Plan, setBackMs } from './plan.js';

/** How far the clocks of this simulation may drift apart during a lease. */
const DRIFT = 1.005;
/** Until a replica has noticed a silent connection, opened another one and read the first answer. */
const RECONNECT_MS = 3_500;
/** Random waits of the followers, and the requests of a hand-over. */
const TAKEOVER_MS = 500;
/** A replica that stepped down does not compete for so long. */
const STAND_BACK_MS = 2_000;
/** A run that ignores its signal. Meanwhile its replica does not compete. */
const LONGEST_RUN_MS = 6_000;
/** Without messages a follower sends a request so often. */
const WITHOUT_MESSAGES_MS = 10_000;
/** The longest pause of a request that the store denies. */
const LONGEST_BACKOFF_MS = 30_000;

/** A session with a short `lockExpiry` is listed for so long after its end. */
const FORGOTTEN_MS = 70_000;

/**
 * How long a job may have no leader after the last event that disturbs the replicas, while a connected replica competes for it. It is the
 * rule of `lockExpiry`: the old lease ends, and the next heartbeat shows it. After some faults a lock has to run out instead.
 */
export function leaderBoundMs(plan: Plan, job: JobName, calmFromMs: number): number {
  const { setting } = plan;
  const faults = plan.faults.filter(({ atMs }) => atMs <= calmFromMs);
  const expiryMs = longestInForceMs(plan, job, calmFromMs);
  const has = (kind: Fault['kind']): boolean => faults.some((fault) => fault.kind === kind);
  const mayThrow = [setting.version, setting.next].some(({ kinds }) => kinds[job] === 'while-leader');
  const noticedMs = setting.heartbeatIntervalMs + RECONNECT_MS;
  const settledMs =
    (setting.ignoringSignal > 0 ? LONGEST_RUN_MS : 0) +
    (has('step-down') || mayThrow || setting.rebalance ? STAND_BACK_MS : 0) +
    backoffMs(plan);
  const lockMs = faults.some((fault) => leavesLock(fault)) ? lockLifeMs(expiryMs) + setBackMs(faults) : 0;
  const messagesMs = has('unregister') ? WITHOUT_MESSAGES_MS : 0;
  return (
    Math.max(noticedMs + expiryMs * DRIFT + settledMs, lockMs * DRIFT, messagesMs) +
    setting.heartbeatIntervalMs +
    TAKEOVER_MS
  );
}

/** How long a lock of `LockService` may stay free, or in the hands of a dead process, while a process waits for it. */
export function lockBoundMs({ setting, faults }: Plan): number {
  const { lockExpiryMs = 0, heartbeatIntervalMs } = setting;
  // a process that saw the data of the store being lost waits for one more life
  return 2 * lockExpiryMs * DRIFT + WITHOUT_MESSAGES_MS + heartbeatIntervalMs + RECONNECT_MS + setBackMs(faults);
}

/** The longest `lockExpiry` of a job that may still rule a lease at this time. */
function longestInForceMs(plan: Plan, job: JobName, atMs: number): number {
  const { version, next, rollOutMs, shutdownTimeoutMs } = plan.setting;
  const [first, second] = [version.lockExpiryMs[job], next.lockExpiryMs[job]];
  if (atMs < rollOutMs) return first;
  const isFirstOver = atMs > firstVersionStopsMs(plan) + 2 * shutdownTimeoutMs + first * DRIFT;
  return isFirstOver ? second : Math.max(first, second);
}

/** When the last process of the first version is stopped. Infinity: it is rolled back, or a place keeps its process. */
function firstVersionStopsMs({ setting, faults, clocks }: Plan): number {
  if (setting.rollBackMs < Infinity) return Infinity;
  return Math.max(
    ...clocks.map((_, place) =>
      Math.min(
        ...faults
          .filter((fault) => (fault.kind === 'stop' || fault.kind === 'kill') && fault.place === place)
          .map(({ atMs }) => (atMs < setting.rollOutMs ? Infinity : atMs)),
      ),
    ),
  );
}

/** A lock may name a session that no heartbeat lists, or a replica that does not use it. */
function leavesLock(fault: Fault): boolean {
  if (fault.kind === 'node-failover') return fault.lostMs > 0;
  // a session that ended so long ago is not listed any more; its replica may have asked for a lock before it knew
  if (fault.kind === 'store-clock-step') return fault.byMs > FORGOTTEN_MS;
  return fault.kind === 'sessions-deleted' || fault.kind === 'restart-older';
}

/** A request that the store denied is sent again after about as long as it was denied. */
function backoffMs({ faults, setting }: Plan): number {
  const refusedMs = faults.reduce((sum, fault) => sum + (fault.kind === 'store-refuses' ? fault.forMs : 0), 0);
  return refusedMs === 0 ? 0 : Math.min(1.5 * (refusedMs + setting.heartbeatIntervalMs), LONGEST_BACKOFF_MS);
}
