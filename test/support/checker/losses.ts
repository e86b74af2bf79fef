import { type History, type WitnessedFault } from './history.js';
import { faultsOf, safetyMarginMs, setAheadMs, touches } from './timing.js';

/** What a store may forget of a job: who holds its lock, also because its clock went ahead, and what was done for it. */
const FORGET = {
  lock: ['data-loss', 'fall-back', 'lock-deleted', 'store-clock-step'],
  state: ['data-loss', 'fall-back', 'state-deleted'],
} as const;

type Troubles = Pick<History, 'faults' | 'settings'>;

export interface Loss {
  readonly kind: string;
  readonly atMs: number;
  /** What was written before this moment is kept. */
  readonly sinceMs: number;
}

/** The moments at which the store forgot the lock of a job, or its state. */
export function lossesOf(history: Troubles, what: keyof typeof FORGET, job: string): readonly Loss[] {
  return faultsOf(history, ...FORGET[what])
    .filter((fault) => (fault.job ?? job) === job && (fault.byMs === undefined || endsLocks(history, fault)))
    .map(({ kind, fromMs, sinceMs = -Infinity }) => ({ kind, atMs: fromMs, sinceMs }));
}

/**
 * Whether locks end before the leases on them, because the clock of the store was set ahead: a lease ends a margin before its
 * lock, unless a host that slept has used that up.
 */
function endsLocks(history: Troubles, { fromMs, byMs = 0 }: WitnessedFault): boolean {
  const { settings } = history;
  if (settings === undefined || byMs <= 0) return byMs > 0;
  const aheadMs = setAheadMs(history, { fromMs: fromMs - settings.lockExpiryMs, untilMs: fromMs });
  // the leases of these locks were confirmed within the life of one before, and end within the life of one
  const near = { fromMs: fromMs - 2 * settings.lockExpiryMs, untilMs: fromMs + settings.lockExpiryMs };
  const slept = faultsOf(history, 'suspend').some((sleep) => touches(sleep, near));
  return aheadMs > (slept ? 0 : 0.9 * safetyMarginMs(settings));
}

/** Whether the store knows at `atMs` what it was told at these moments, and forgot by these losses. */
export function isKept(losses: readonly Loss[], toldMs: readonly number[], atMs: number): boolean {
  const loss = losses.filter((other) => other.atMs < atMs).sort((a, b) => b.atMs - a.atMs)[0];
  const sinceMs = loss?.atMs ?? -Infinity;
  if (toldMs.some((tellMs) => sinceMs <= tellMs && tellMs < atMs)) return true;
  return loss !== undefined && isKept(losses, toldMs, loss.sinceMs);
}

/** Whether the store knew it before one of these losses, and does not know it at `atMs`. */
export function wasForgotten(losses: readonly Loss[], toldMs: readonly number[], atMs: number): boolean {
  const knewOnce = losses.some((loss) => loss.atMs < atMs && isKept(losses, toldMs, loss.atMs));
  return knewOnce && !isKept(losses, toldMs, atMs);
}
