import { type Chance } from './chance.js';
import { MOST_EARLY_MS } from './process-clock.js';
import { type Setting, type Temper, type Version } from './plan.js';

export function drawSetting(
  chance: Chance,
  temper: Temper,
): Omit<Setting, 'threads' | 'earlyTimersMs' | 'isCluster' | 'lockExpiryMs' | 'rebalance'> {
  const version = { kinds: KINDS, lockExpiryMs: drawExpiries(chance), cronSeconds: chance.pick([1, 1, 2, 5]) };
  const expiries = Object.values(version.lockExpiryMs);
  const longestMs = Math.max(...expiries);
  const shutdownTimeoutMs = chance.pick([3_000, 3_000, 8_000]);
  const heartbeatIntervalMs = Math.min(3_000, longestMs / chance.pick([3, 4, 5]));
  const defaultGraceMs = shutdownTimeoutMs + 2 * version.lockExpiryMs.cron + heartbeatIntervalMs;
  return {
    heartbeatIntervalMs,
    shutdownTimeoutMs,
    misfireGraceMs: chance.pick([defaultGraceMs, defaultGraceMs, 0, 1_500, version.lockExpiryMs.cron]),
    periodMs: version.lockExpiryMs.grid * chance.pick([0.2, 0.4, 1]),
    delayMs: version.lockExpiryMs.pause * chance.pick([0.3, 0.8, 2]),
    version,
    next: version,
    rollOutMs: Infinity,
    rollBackMs: Infinity,
    overlap: chance.pick(['skip', 'cancel-other']),
    ignoringSignal: temper === 'ends' ? 0 : chance.pick([0, 0, 0, 0.3]),
    serverRate: chance.between(0.998, 1.002),
    isProxied: temper !== 'ends' && chance.happens(0.2),
    faultsForMs: 6_000 + 5 * longestMs,
  };
}

const KINDS: Version['kinds'] = { grid: 'fixed-rate', pause: 'interval', cron: 'cron', feed: 'while-leader' };

/** Short leases, so that many faults fit into a short time. The default. And mixed leases. */
export function drawExpiries(chance: Chance): Version['lockExpiryMs'] {
  const tiers = chance.pick<readonly [number, ...number[]]>([
    [800],
    [800],
    [3_000],
    [800, 3_000],
    [800, 3_000],
    [800, 10_000],
    [3_000, 10_000],
    [10_000],
  ]);
  const pick = (): number => chance.pick(tiers);
  return { grid: pick(), pause: pick(), cron: pick(), feed: pick() };
}

/** In some scenarios all replicas have a heartbeat thread, in some a part of them. */
export function drawThreads(chance: Chance, places: number): boolean[] {
  const share = chance.pick([0, 0, 0.5, 1]);
  return Array.from({ length: places }, () => chance.happens(share));
}

/** In some scenarios timers fire early, as those of Node.js do. */
export function drawEarlyTimersMs(chance: Chance): number {
  return chance.pick([0, MOST_EARLY_MS]);
}

/** In most scenarios leaderships even out, in a fraction of the real times. A replica that has just given a job away is no successor. */
export function drawRebalance(chance: Chance, temper: Temper): Setting['rebalance'] {
  if (temper === 'ends' || chance.happens(0.1)) return undefined;
  const intervalMs = chance.pick([500, 1_000, 3_000]);
  return { intervalMs, answersMs: chance.pick([20, 100]), dueMs: chance.pick([5, 50]), stayMs: 10 * intervalMs };
}

/** In some scenarios the processes also use `LockService`. */
export function drawLockExpiryMs(chance: Chance): number | undefined {
  return chance.happens(0.15) ? chance.pick([800, 3_000]) : undefined;
}
