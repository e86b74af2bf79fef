import { type Span } from './bounds.js';
import { isForgotten, isLostToAFreshLeader, isOutcomeForgotten, isStartTold } from './forgotten.js';
import { showDate, showReport, showRun, violation } from './evidence.js';
import { isKept, lossesOf } from './losses.js';
import {
  type History,
  type Violation,
  type WitnessedConfirmation,
  type WitnessedFault,
  type WitnessedReport,
  type WitnessedRun,
} from './history.js';
import { faultsOf, ON_TIME_MS } from './timing.js';

/** A cron occurrence that was started more than once. */
export function startedTwice(history: History, job: string): Violation[] {
  const { runs } = history;
  const starts = new Map<number, WitnessedRun[]>();
  return runs
    .filter((run) => run.job === job)
    .flatMap((run) => {
      const known = starts.get(run.scheduledAt) ?? [];
      starts.set(run.scheduledAt, [...known, run]);
      const [earlier] = known;
      if (earlier === undefined) return [];
      // what a process has started itself it knows, whatever the store has lost
      const isNew = known.every(({ process }) => process !== run.process);
      if (isNew && isForgotten(history, { job, at: run.scheduledAt }, start(run))) return [];
      return [violation('started-twice', showRun(earlier), showRun(run))];
    });
}

/** A cron occurrence that was neither started nor reported. */
export function lostInSilence(history: History, job: string): Violation[] {
  const { runs, reports, due } = history;
  const started = new Set(runs.filter((run) => run.job === job).map(({ scheduledAt }) => scheduledAt));
  const windows = reports.filter((report) => report.job === job);
  return (due.get(job) ?? [])
    .filter((at) => !started.has(at) && !windows.some(({ from, to }) => from < at && at <= to))
    .filter((at) => !isLostToAFreshLeader(history, { job, at }))
    .map((at) => violation('lost-in-silence', `${job}: occurrence ${showDate(at)} was neither started nor reported`));
}

/** Whether nobody can say what a window holds: the store has lost it, or who listened did not note the reason. */
function isUnsure(history: History, { job, reason, atMs = Infinity }: WitnessedReport): boolean {
  if (reason !== 'state-lost') return reason === undefined;
  return history.faults === undefined || lossesOf(history, 'state', job).some((loss) => loss.atMs <= atMs);
}

/** A report of an occurrence that a run was started for, or that was reported before. */
export function contradictions(history: History, job: string): Violation[] {
  const { runs, reports } = history;
  const started = runs.filter((run) => run.job === job);
  const windows = reports.filter((report) => report.job === job);
  return windows.flatMap((report, index) => {
    if (isUnsure(history, report)) return [];
    const holds = (at: number): boolean => report.from < at && at <= report.to;
    const told = { process: report.process, atMs: report.atMs ?? 0 };
    const isUnknown = report.reason === 'schedule-changed' ? isOutcomeForgotten : isForgotten;
    const run = started.find((other) => {
      const later = other.startedMs > told.atMs ? start(other) : told;
      const occurrence = { job, at: other.scheduledAt };
      if (!holds(other.scheduledAt) || isUnknown(history, occurrence, later)) return false;
      return report.reason !== 'start-not-confirmed' || isStartTold(history, other, told);
    });
    const other = windows
      .slice(0, index)
      .find(
        (earlier) =>
          Math.max(earlier.from, report.from) < Math.min(earlier.to, report.to) &&
          earlier.reason !== 'state-lost' &&
          wasTold(history, earlier, { ...report, ...told }) &&
          !isOutcomeForgotten(history, { job, at: Math.max(earlier.from, report.from) + 1 }, told),
      );
    return [
      ...(run === undefined ? [] : [violation('started-and-reported', showRun(run), showReport(report))]),
      ...(other === undefined ? [] : [violation('reported-twice', showReport(other), showReport(report))]),
    ];
  });
}

/** Reasons for a report that claims nothing: if its reporter is lost before it has told the store, the next leader repeats it. */
const CLAIMS_NOTHING: readonly (string | undefined)[] = ['schedule-changed', 'start-not-confirmed'];

/** Whether the store had heard of a report before the later one. Who reports an unconfirmed start has heard of none. */
function wasTold(
  history: History,
  { job, process, reason, atMs = -Infinity }: WitnessedReport,
  later: WitnessedReport,
): boolean {
  const { confirmations, settings } = history;
  const isUnconfirmed = later.reason === 'start-not-confirmed';
  if (confirmations === undefined) return !isUnconfirmed;
  if (!CLAIMS_NOTHING.includes(reason) && !isUnconfirmed) return true;
  const own = confirmations.filter((other) => other.job === job && other.process === process);
  // the first of a term is its grant: a bid tells nothing of what its process has accounted for
  const isGrant = ({ fencingToken, sentMs }: WitnessedConfirmation): boolean =>
    !own.some((other) => other.fencingToken === fencingToken && other.sentMs < sentMs);
  // what is sent at the moment of a report may have been put together before it, and is seen on its way later still
  const fromMs = atMs + (settings?.toleranceMs ?? 0);
  const told = own.filter((other) => other.sentMs > fromMs && !isGrant(other));
  return isKept(
    lossesOf(history, 'state', job),
    told.map(({ answeredMs }) => answeredMs),
    later.atMs ?? Infinity,
  );
}

function start({ process, startedMs }: WitnessedRun) {
  return { process, atMs: startedMs };
}

/**
 * An occurrence that was started later than its grace allows, by the clock of the store. Where answers were on their way for
 * long, or the process stood still, what it knows of that clock is as old as they are, and no older than its lease.
 */
export function startedTooLate(history: History, job: string): Violation[] {
  const { runs, settings, faults = [] } = history;
  const graceMs = settings?.misfireGraceMs?.get(job);
  if (settings?.epochMs === undefined || graceMs === undefined) return [];
  const { epochMs, toleranceMs, drift, lockExpiryMs } = settings;
  return runs.flatMap((run) => {
    const known = { fromMs: run.startedMs - lockExpiryMs, untilMs: run.startedMs };
    const sinceMs = run.scheduledAt - epochMs - leastAheadMs(history, known);
    const isOnItsOwn = (fault: WitnessedFault): boolean =>
      (fault.process ?? run.process) === run.process && fault.fromMs <= run.startedMs && fault.untilMs >= sinceMs;
    const limitMs = Math.max(graceMs, ON_TIME_MS) + toleranceMs + run.startedMs * drift;
    const lateMs = run.startedMs - sinceMs - (faults.some(isOnItsOwn) ? lockExpiryMs : 0);
    if (run.job !== job || lateMs <= limitMs) return [];
    return [violation('started-too-late', showRun(run), `the grace is ${graceMs} ms`)];
  });
}

/** By how much the clock of the store had been set ahead at least, at some time in between. */
function leastAheadMs(history: History, { fromMs, untilMs }: Span): number {
  const steps = faultsOf(history, 'store-clock-step');
  const aheadMs = (atMs: number): number =>
    steps.filter((step) => step.fromMs <= atMs).reduce((sum, { byMs = 0 }) => sum + byMs, 0);
  const within = steps.filter((step) => fromMs < step.fromMs && step.fromMs <= untilMs);
  return Math.min(aheadMs(fromMs), ...within.map((step) => aheadMs(step.fromMs)));
}
