import { type History } from './history.js';
import { faultsOf, safetyMarginMs } from './timing.js';

/** What a store may forget of a job: who holds its lock, also because its clock went ahead, and what was done for it. */
const FORGET = {
  lock: ['data-loss', 'fall-back', 'lock-deleted', 'store-clock-step'],
  state: ['data-loss', 'fall-back', 'state-deleted'],
} as const;

export interface Loss {
  readonly kind: string;
  readonly atMs: number;
  /** What was written before this moment is kept. */
  readonly sinceMs: number;
}

/** The moments at which the store forgot the lock of a job, or its state. */
export function lossesOf(history: History, what: keyof typeof FORGET, job: string): readonly Loss[] {
  // a lease ends a margin before its lock: two small steps ahead take nothing from it
  const harmlessMs = history.settings === undefined ? 0 : 0.4 * safetyMarginMs(history.settings);
  return faultsOf(history, ...FORGET[what])
    .filter((fault) => (fault.job ?? job) === job && (fault.byMs ?? Infinity) > harmlessMs)
    .map(({ kind, fromMs, sinceMs = -Infinity }) => ({ kind, atMs: fromMs, sinceMs }));
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
