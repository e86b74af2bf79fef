import { showRun, violation } from './evidence.js';
import { type History, type Violation, type WitnessedProcess } from './history.js';
import { lossesOf } from './losses.js';
import { attemptMs, faultsOf, hindrancesOf, JITTER_MS } from './timing.js';

/** What a stop promises: it is over in time, and leaves no lock behind whose run has settled, and no timer. */
export function untidyStops(history: History): Violation[] {
  const { settings, processes = [] } = history;
  if (settings === undefined) return [];
  const limitMs = settings.shutdownTimeoutMs * (1 + settings.drift) + JITTER_MS + settings.toleranceMs;
  return processes.flatMap((process) => {
    const { stopAskedMs, endedMs, end, heldAtEnd = [], timersAtEnd = 0 } = process;
    if (end !== 'stopped' || stopAskedMs === undefined || endedMs === undefined) return [];
    const isHindered = stoodStill(history, process);
    // a store that did not hear of a release could not carry it out
    const kept = heardNothing(history, process)
      ? []
      : heldAtEnd.filter((job) => !wasTakenByStray(history, process, job) && !wasGivenUp(history, process, job));
    return [
      ...(endedMs - stopAskedMs > limitMs && !isHindered ? [violation('stop-too-long', showStop(process))] : []),
      ...(kept.length > 0 ? [violation('lock-kept', showStop(process), `it still held ${kept.join(', ')}`)] : []),
      ...(timersAtEnd > 0 && !isHindered
        ? [violation('timer-left', showStop(process), `it left ${timersAtEnd} timers`)]
        : []),
    ];
  });
}

/** Of a process that has ended nothing is heard again: it starts nothing, and sends nothing. */
export function actsAfterEnd({ processes = [], runs, steps = [], settings }: History): Violation[] {
  const ends = new Map(processes.map(({ process, endedMs = Infinity }) => [process, endedMs]));
  const endOf = (process: string): number => ends.get(process) ?? Infinity;
  const toleranceMs = settings?.toleranceMs ?? 0;
  return [
    ...runs
      .filter((run) => run.startedMs > endOf(run.process) + toleranceMs)
      .map((run) => violation('act-after-end', showRun(run))),
    ...steps
      .filter(({ sentMs, process }) => sentMs !== undefined && sentMs > endOf(process) + toleranceMs)
      .map(({ process, command, job }) =>
        violation('act-after-end', `${process} sent ${command} of ${job} after its end`),
      ),
  ];
}

function stoodStill(history: History, { process, stopAskedMs = 0 }: WitnessedProcess): boolean {
  return faultsOf(history, 'pause', 'suspend').some(
    (fault) => fault.process === process && fault.untilMs > stopAskedMs,
  );
}

function heardNothing(history: History, { process, stopAskedMs = 0, endedMs = Infinity }: WitnessedProcess): boolean {
  return hindrancesOf(history, process).some(({ fromMs, untilMs }) => fromMs <= endedMs && untilMs > stopAskedMs);
}

/** Whether the lock was taken by a bid that arrived when nobody waited for it any more, and nobody asked since and found out. */
function wasTakenByStray(
  { settings, holdings = [], steps = [] }: History,
  { process, endedMs = NaN }: WitnessedProcess,
  job: string,
): boolean {
  const last = holdings.find(
    (one) => one.job === job && one.process === process && one.fromMs <= endedMs && endedMs < one.untilMs,
  );
  if (settings === undefined || last?.sentMs === undefined) return false;
  const { fromMs, sentMs } = last;
  const hasAsked = steps.some(
    (step) => step.job === job && step.process === process && step.atMs > fromMs && step.atMs <= endedMs,
  );
  return fromMs - sentMs > attemptMs(settings) && !hasAsked;
}

/**
 * Whether the process had lost its last term before it was asked to stop, or given it up: it asks for that lock no more. One whose
 * release was confirmed is free, unless a failover has brought it back.
 */
function wasGivenUp(
  history: History,
  { process, stopAskedMs = 0, endedMs = NaN }: WitnessedProcess,
  job: string,
): boolean {
  const { terms = [] } = history;
  const last = terms.findLast((term) => term.job === job && term.process === process);
  if (last?.endedMs === undefined || last.endedMs > stopAskedMs) return false;
  const { end, endedMs: lostMs } = last;
  const failovers = lossesOf(history, 'lock', job).filter(({ kind }) => kind === 'fall-back');
  return end !== 'released' || failovers.some(({ atMs }) => lostMs <= atMs && atMs <= endedMs);
}

function showStop({ process, stopAskedMs = NaN, endedMs = NaN }: WitnessedProcess): string {
  return `${process} was asked to stop at ${Math.round(stopAskedMs)} and ended at ${Math.round(endedMs)}`;
}
