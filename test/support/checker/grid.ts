import { isHandOverForgotten } from './forgotten.js';
import { showDate, showRun, showTerm, violation } from './evidence.js';
import { isBesideLoss } from './mutex.js';
import { type History, type Violation, type WitnessedRun, type WitnessedTerm } from './history.js';
import { faultsOf, hindrancesOf, safetyMarginMs, setAheadMs, touches } from './timing.js';

/**
 * A slot of a fixed rate that was started twice, by processes whose clocks agree on which slot it is. Once a clock was ahead by
 * more than a period, what it told of its newest slot says nothing any more, and nothing is promised.
 */
export function slotsStartedTwice(history: History): Violation[] {
  const released = releasedTerms(history);
  // the lock lives on for this long after the last start: without a release, clocks that agree to that have left the slot by then
  const marginMs = history.settings === undefined ? Infinity : safetyMarginMs(history.settings);
  return perGrid(history, (runs, periodMs) => {
    const first = new Map<number, WitnessedRun>();
    let furthestAheadMs = -Infinity;
    return runs.flatMap((run) => {
      const { clockAheadMs } = run;
      const earlier = first.get(run.scheduledAt);
      first.set(run.scheduledAt, earlier ?? run);
      if (clockAheadMs === undefined) return [];
      furthestAheadMs = Math.max(furthestAheadMs, clockAheadMs);
      if (earlier?.clockAheadMs === undefined || furthestAheadMs > clockAheadMs + periodMs / 2) return [];
      const isTold = earlier.process === run.process || released.has(`${run.job} ${earlier.fencingToken}`);
      if (!isTold && earlier.clockAheadMs - clockAheadMs > 0.9 * marginMs) return [];
      if (isBesideLoss(history, earlier, run) || isHandOverForgotten(history, earlier, run)) return [];
      return [violation('slot-started-twice', showRun(earlier), showRun(run))];
    });
  });
}

/** A start for a slot that is not the newest: after a blocked loop at most one late tick runs, for the slot that is on. */
export function lateTicks(history: History): Violation[] {
  const { calm, settings } = history;
  if (calm === undefined && settings === undefined) return [];
  return perGrid(history, (runs, periodMs) =>
    runs
      .filter(({ latenessMs = 0 }) => latenessMs >= periodMs + (settings?.toleranceMs ?? 0))
      .map((run) => violation('late-tick', showRun(run), `${Math.round(run.latenessMs ?? 0)} ms after its slot`)),
  );
}

/** A slot between two of one term that was neither started nor told as dropped, or both: starts and drops are all ticks there are. */
export function ticksUnaccounted(history: History): Violation[] {
  const { terms = [], drops } = history;
  if (drops === undefined) return [];
  return perGrid(history, (runs, periodMs, grid) =>
    terms.flatMap((term) => {
      const { job, process, fencingToken, gainedMs, endedMs = Infinity } = term;
      if (job !== grid || wasStepped(history, term)) return [];
      const started = runs.filter((run) => run.process === process && run.fencingToken === fencingToken);
      const dropped = drops.filter(
        (drop) => drop.job === job && drop.process === process && gainedMs <= drop.atMs && drop.atMs <= endedMs,
      );
      const slots = [
        ...started.map(({ scheduledAt }) => scheduledAt),
        ...dropped.flatMap(({ scheduledAt, count }) =>
          Array.from({ length: count }, (_, index) => scheduledAt - index * periodMs),
        ),
      ].sort((one, other) => one - other);
      const after = slots.find((slot, index) => slot - (slots[index - 1] ?? slot - periodMs) !== periodMs);
      const gap =
        after ?? (fellSilent(history, term, { last: started.at(-1), slots, periodMs }) ? slots.at(-1) : undefined);
      if (gap === undefined) return [];
      return [violation('tick-unaccounted', showTerm(term), `around the slot at ${showDate(gap)}`)];
    }),
  );
}

/** Whether a leader that nothing kept from it neither started nor dropped anything any more before the end of its term. */
function fellSilent(
  history: History,
  { process, endedMs: termEndedMs = Infinity }: WitnessedTerm,
  {
    last,
    slots,
    periodMs,
  }: { readonly last: WitnessedRun | undefined; readonly slots: readonly number[]; readonly periodMs: number },
): boolean {
  const { settings, processes = [], endMs = Infinity } = history;
  if (settings?.epochMs === undefined || last?.clockAheadMs === undefined || last.endedMs === undefined) return false;
  const { stopAskedMs = Infinity } = processes.find((other) => other.process === process) ?? {};
  const untilMs = Math.min(termEndedMs, stopAskedMs, endMs);
  const since = { fromMs: last.startedMs, untilMs };
  const wasKept = hindrancesOf(history, process).some((fault) => touches(fault, since));
  const aheadOfLast = settings.epochMs + untilMs + last.clockAheadMs - (slots.at(-1) ?? NaN);
  return !wasKept && untilMs - last.endedMs > 2 * periodMs && aheadOfLast > 2 * periodMs + settings.toleranceMs;
}

/** A clock that is stepped while it leads may leave out slots, or come to them again. */
function wasStepped(history: History, { process, gainedMs, endedMs = Infinity }: WitnessedTerm): boolean {
  const steps = faultsOf(history, 'clock-step').filter((step) => step.process === process);
  return steps.some(({ fromMs }) => gainedMs <= fromMs && fromMs <= endedMs);
}

/** The gap of an interval holds within a process, and across a release, which takes the end of the last run along. */
export function gapsTooShort(history: History): Violation[] {
  const { runs, settings } = history;
  if (settings?.delayMs === undefined) return [];
  const released = releasedTerms(history);
  return [...settings.delayMs].flatMap(([job, delayMs]) => {
    const ofJob = runs.filter((run) => run.job === job).sort((a, b) => a.startedMs - b.startedMs);
    const leastMs = delayMs * (1 - settings.drift) - settings.toleranceMs;
    return ofJob.flatMap((run, index) => {
      const before = ofJob[index - 1];
      if (before?.endedMs === undefined) return [];
      // how long ago the end of another's run was the clock of the store says
      const between = { fromMs: before.endedMs, untilMs: run.startedMs };
      const seemedMs = before.process === run.process ? 0 : setAheadMs(history, between);
      if (run.startedMs - before.endedMs + seemedMs >= leastMs) return [];
      // one that could not tell the store of its end could not hold the gap either
      if (before.process !== run.process && !released.has(`${job} ${before.fencingToken}`)) return [];
      if (isBesideLoss(history, before, run) || isHandOverForgotten(history, before, run)) return [];
      return [violation('gap-too-short', showRun(before), showRun(run))];
    });
  });
}

/** Job and token of each term whose release the server has carried out while the lock was still its own. */
function releasedTerms({ steps = [], holdings = [] }: History): ReadonlySet<string> {
  const freed = new Set(
    steps.flatMap(({ command, holder, before }) => (command === 'release' && before === holder ? [holder] : [])),
  );
  return new Set(
    holdings.filter(({ holder }) => freed.has(holder)).map(({ job, fencingToken = NaN }) => `${job} ${fencingToken}`),
  );
}

function perGrid(
  history: History,
  judge: (runs: readonly WitnessedRun[], periodMs: number, job: string) => Violation[],
): Violation[] {
  return [...(history.grids ?? [])].flatMap(([job, periodMs]) =>
    judge(
      history.runs.filter((run) => run.job === job).sort((a, b) => a.startedMs - b.startedMs),
      periodMs,
      job,
    ),
  );
}
