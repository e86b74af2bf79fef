import { type Span } from './bounds.js';
import {
  type History,
  type Settings,
  type WitnessedConfirmation,
  type WitnessedFault,
  type WitnessedTerm,
} from './history.js';

/** What is noticed within this time is on time, however small the grace of an occurrence. */
export const ON_TIME_MS = 1_000;

/** What followers wait beyond the life of a lock, so that they do not all ask at once. */
export const JITTER_MS = 20;

/** The documented formulas, computed here a second time: a checker must not ask what it checks. */
export function safetyMarginMs({ lockExpiryMs }: Settings): number {
  return Math.max(lockExpiryMs / 10, 25);
}

export function attemptMs({ lockExpiryMs }: Settings): number {
  return Math.min(1_000, lockExpiryMs / 5);
}

/** The longest between two probes of a store that does not answer, with their jitter. */
export function probeMs({ heartbeatIntervalMs }: Settings): number {
  return 1.2 * Math.min(500, heartbeatIntervalMs);
}

/**
 * Until when a term may be believed in, as far as its confirmations that were read by `atMs` say: counted from the time that
 * the last confirmed request was sent. A confirmation that comes after the
 * deadline of a term revives nothing; on a host that slept only the monotonic clock knows, which nobody else can see.
 */
export function deadlineMs(
  { settings }: History & { readonly settings: Settings },
  confirmations: readonly WitnessedConfirmation[],
  {
    gainedMs,
    atMs = Infinity,
    sleeps,
  }: { readonly gainedMs: number; readonly atMs?: number; readonly sleeps: boolean },
): number {
  // a host that sleeps does not notice less than the margin
  const lifeMs = settings.lockExpiryMs - (sleeps ? 0 : safetyMarginMs(settings));
  let deadline = -Infinity;
  for (const { sentMs, answeredMs } of confirmations) {
    if (answeredMs > atMs) break;
    const isOver = deadline !== -Infinity && answeredMs > Math.max(deadline, gainedMs);
    if (isOver && !sleeps) break;
    deadline = Math.max(deadline, sentMs + lifeMs * (1 + settings.drift) + settings.toleranceMs);
  }
  return deadline;
}

/** Confirmations by job and token, in the order of their answers. */
export function byTerm(history: Pick<History, 'confirmations'>): ReadonlyMap<string, WitnessedConfirmation[]> {
  const terms = new Map<string, WitnessedConfirmation[]>();
  for (const confirmation of history.confirmations ?? []) {
    const known = terms.get(termKey(confirmation));
    if (known === undefined) terms.set(termKey(confirmation), [confirmation]);
    else known.push(confirmation);
  }
  return terms;
}

export function termKey(of: { readonly job: string; readonly process: string; readonly fencingToken: number }): string {
  return `${of.job} ${of.process} ${of.fencingToken}`;
}

type Troubles = Pick<History, 'faults'>;

export function faultsOf({ faults = [] }: Troubles, ...kinds: readonly string[]): readonly WitnessedFault[] {
  return faults.filter(({ kind }) => kinds.includes(kind));
}

/** By how much the clock of the store was set ahead in between. */
export function setAheadMs(history: Troubles, { fromMs, untilMs }: Span): number {
  return faultsOf(history, 'store-clock-step')
    .filter((step) => fromMs <= step.fromMs && step.fromMs <= untilMs)
    .reduce((sum, { byMs = 0 }) => sum + Math.max(byMs, 0), 0);
}

/** They last, or have an effect that does, and yet hinder nobody. */
const HARMLESS: readonly string[] = ['step-down', 'store-clock-step', 'deaf'];

/** What hinders a process, or all of them. */
export function hindrancesOf({ faults = [] }: Troubles, process: string): readonly WitnessedFault[] {
  return faults.filter((fault) => (fault.process ?? process) === process && !HARMLESS.includes(fault.kind));
}

/** Whether something that lasts hinders a process, or all of them, at some time between. */
export function isHindered(history: Troubles, process: string, span: Span): boolean {
  return hindrancesOf(history, process).some((fault) => fault.untilMs > fault.fromMs && touches(fault, span));
}

/** Whether two spans have a moment in common. */
export function touches(one: Span, other: Span): boolean {
  return one.fromMs <= other.untilMs && one.untilMs >= other.fromMs;
}

/** Whether the host of a leader slept, with its monotonic clock, while something counted that its term was confirmed by. */
export function sleeps(
  { settings, ...history }: Troubles & { readonly settings: Settings },
  { process, gainedMs }: Pick<WitnessedTerm, 'process' | 'gainedMs'>,
  untilMs: number,
): boolean {
  const life = { fromMs: gainedMs - settings.lockExpiryMs, untilMs };
  return faultsOf(history, 'suspend').some((fault) => fault.process === process && touches(fault, life));
}
