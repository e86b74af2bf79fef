import { showTerm, violation } from './evidence.js';
import { type History, type Settings, type Violation, type WitnessedProcess, type WitnessedTerm } from './history.js';
import { attemptMs, JITTER_MS, probeMs } from './timing.js';

/**
 * A job without a leader for longer than promised, while somebody could lead and nothing went wrong: after a release until the
 * others have heard of it; after a kill until the lock runs out; after an outage until a probe finds out, or the lock
 * of whoever was granted it meanwhile runs out.
 */
export function leaderlessTooLong(history: History): Violation[] {
  const { settings, terms, processes } = history;
  if (settings === undefined || terms === undefined || processes === undefined || history.faults === undefined)
    return [];
  const { travelMs } = settings;
  if (travelMs === undefined) return [];
  const jobs = new Set(terms.map(({ job }) => job));
  return [...jobs].flatMap((job) => {
    const ofJob = terms.filter((term) => term.job === job).sort((a, b) => a.gainedMs - b.gainedMs);
    return ofJob.flatMap((next, index) => {
      const before = ofJob[index - 1];
      if (before?.endedMs === undefined || before.endedMs >= next.gainedMs) return [];
      return judgeGap(history, { ...settings, travelMs }, { before, endedMs: before.endedMs, next });
    });
  });
}

type Measured = Settings & Required<Pick<Settings, 'travelMs'>>;

interface Gap {
  readonly before: WitnessedTerm;
  readonly endedMs: number;
  readonly next: WitnessedTerm;
}

function judgeGap(history: History, settings: Measured, gap: Gap): Violation[] {
  const { before, endedMs, next } = gap;
  const quietFromMs = Math.max(endedMs, lastDisturbance(history, gap), firstCandidate(history, gap));
  const isUndisturbed = quietFromMs === endedMs && !wasDisturbed(history, endedMs - settings.lockExpiryMs, endedMs);
  const boundMs = before.end === 'released' && isUndisturbed ? afterRelease(settings) : afterAnything(settings);
  const quietMs = next.gainedMs - quietFromMs;
  if (quietMs <= boundMs) return [];
  const found = `${Math.round(quietMs)} ms without a leader and without a fault, and ${Math.round(boundMs)} are allowed`;
  return [violation('leaderless-too-long', showTerm(before), showTerm(next), found)];
}

/** A message, a bid and its answer. */
function afterRelease({ travelMs, toleranceMs }: Measured): number {
  return 3 * travelMs + toleranceMs;
}

function afterAnything(settings: Measured): number {
  const { lockExpiryMs, travelMs, toleranceMs, drift } = settings;
  const lockMs = lockExpiryMs * (1 + drift);
  return lockMs + attemptMs(settings) + probeMs(settings) + JITTER_MS + 4 * travelMs + toleranceMs;
}

/** The last moment in a gap at which something was still wrong, or a process came to its end. */
function lastDisturbance({ faults = [], processes = [] }: History, { endedMs, next: { gainedMs } }: Gap): number {
  const ends = [
    ...faults
      .filter(({ fromMs, untilMs }) => fromMs < gainedMs && untilMs > endedMs)
      .map(({ untilMs }) => Math.min(untilMs, gainedMs)),
    ...processes.flatMap((process) => [process.endedMs ?? -Infinity, process.stopAskedMs ?? -Infinity]),
  ];
  return Math.max(-Infinity, ...ends.filter((atMs) => atMs > endedMs && atMs <= gainedMs));
}

function wasDisturbed({ faults = [], processes = [] }: History, fromMs: number, untilMs: number): boolean {
  const isIn = (atMs = -Infinity): boolean => atMs > fromMs && atMs < untilMs;
  return (
    faults.some((fault) => fault.fromMs <= untilMs && fault.untilMs >= fromMs) ||
    processes.some(({ endedMs, end }) => end === 'killed' && isIn(endedMs))
  );
}

/** From when on somebody could lead who then was there until the end of the gap: nothing of the job still ran in it. */
function firstCandidate({ processes = [], runs }: History, { next: { gainedMs, job } }: Gap): number {
  const canLead = ({ stopAskedMs = Infinity, endedMs = Infinity }: WitnessedProcess): boolean =>
    Math.min(stopAskedMs, endedMs) > gainedMs;
  const freeFrom = ({ process, startedMs }: WitnessedProcess): number => {
    const own = runs.filter((run) => run.job === job && run.process === process && run.startedMs < gainedMs);
    return Math.max(startedMs, ...own.map(({ endedMs = Infinity }) => endedMs));
  };
  return Math.min(Infinity, ...processes.filter(canLead).map(freeFrom));
}
