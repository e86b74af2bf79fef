import { showRun, violation } from './evidence.js';
import { grantedMs, isExcusedByLoss, mayNotKnowLoss } from './data-loss.js';
import { lossesOf, wasForgotten } from './losses.js';
import { safetyMarginMs } from './timing.js';
import { type History, type Violation, type WitnessedRun, type WitnessedTerm } from './history.js';

/**
 * Two runs of one job in flight at once. A process that stands still can act on nothing, so its runs are left out; so are
 * those that go on although their signal has fired, which only their fencing token can stop.
 */
export function overlaps(runs: readonly WitnessedRun[], history: History): Violation[] {
  const found: Violation[] = [];
  let inFlight: WitnessedRun[] = [];
  for (const run of runs) {
    inFlight = inFlight.filter(({ endedMs = Infinity }) => endedMs > run.startedMs);
    for (const earlier of inFlight) {
      if (!isExcused(earlier, run.startedMs, history) && !isBesideLoss(history, earlier, run))
        found.push(violation('overlap', showRun(earlier), showRun(run)));
    }
    inFlight.push(run);
  }
  return found;
}

function isExcused(run: WitnessedRun, atMs: number, { settings }: History): boolean {
  const { stoodStill = false, wentOnMs = Infinity, ignoresSignal = false, abortedMs = Infinity } = run;
  // who goes on hears of its deadline at once, and then has the margin to settle in
  const settledMs = settings === undefined ? Infinity : wentOnMs + safetyMarginMs(settings) + settings.toleranceMs;
  return (stoodStill && atMs <= settledMs) || (ignoresSignal && abortedMs <= atMs);
}

export function startsWithoutLock(runs: readonly WitnessedRun[], history: History): Violation[] {
  return runs
    .filter((run) => run.heldLock === false && !isUnawareOfLoss(history, run))
    .map((run) => violation('start-without-lock', showRun(run)));
}

/** A run whose fencing token is smaller than that of one that started before. */
export function tokensGoingBack(runs: readonly WitnessedRun[], history: History): Violation[] {
  let newest: WitnessedRun | undefined;
  return runs.flatMap((run) => {
    if (newest === undefined || newest.fencingToken <= run.fencingToken) {
      newest = run;
      return [];
    }
    if (isBesideLoss(history, newest, run) || isGrantUndone(history, newest, run)) return [];
    return [violation('token-went-back', showRun(newest), showRun(run))];
  });
}

/** A failover has given the lock back to the leader of an older term, which never learned that another was granted it meanwhile. */
function isGrantUndone(history: History, newer: WitnessedRun, older: WitnessedRun): boolean {
  const [granted, before] = [termOf(history, newer), termOf(history, older)];
  if (granted === undefined || before === undefined) return false;
  const failovers = lossesOf(history, 'lock', newer.job).filter(({ kind }) => kind === 'fall-back');
  const atMs = grantedMs(history, granted);
  return grantedMs(history, before) < atMs && wasForgotten(failovers, [atMs], older.startedMs);
}

/** One of the two leads since before the store lost its data, and the other is a process that could not know of it. */
export function isBesideLoss(history: History, one: WitnessedRun, other: WitnessedRun): boolean {
  const [a, b] = [termOf(history, one), termOf(history, other)];
  const atMs = Math.max(one.startedMs, other.startedMs);
  return (
    isExcusedByLoss(history, { earlier: a, later: b, atMs }) || isExcusedByLoss(history, { earlier: b, later: a, atMs })
  );
}

function isUnawareOfLoss(history: History, run: WitnessedRun): boolean {
  const term = termOf(history, run);
  return term !== undefined && mayNotKnowLoss(history, term, run.startedMs);
}

function termOf({ terms = [] }: History, { job, process, fencingToken }: WitnessedRun): WitnessedTerm | undefined {
  return terms.find((term) => term.job === job && term.process === process && term.fencingToken === fencingToken);
}
