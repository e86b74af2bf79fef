import { showTerm, violation } from './evidence.js';
import { type History, type Violation, type WitnessedTerm } from './history.js';

export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What holds besides the rules for all histories, where the story says how little goes wrong in it. */
export interface Bounds {
  /** The longest time without a leader after a release, and after the end of a process that did not release. */
  readonly afterReleaseMs: number;
  readonly afterKillMs?: number;
  /** Terms that end at another time are not judged. @default all are */
  readonly within?: readonly Span[];
  /** Nothing happens that a lease cannot outlive. @default false */
  readonly keepsLeases?: boolean;
}

/** Leases that were lost although nothing could take them, and jobs that had to wait too long for their next leader. */
export function beyondBounds({ terms = [] }: History, bounds: Bounds): Violation[] {
  const jobs = new Set(terms.map(({ job }) => job));
  return [...jobs].flatMap((job) => {
    const ofJob = terms.filter((term) => term.job === job).sort((a, b) => a.gainedMs - b.gainedMs);
    return [...(bounds.keepsLeases === true ? leasesLost(ofJob) : []), ...lateHandOvers(ofJob, bounds)];
  });
}

function leasesLost(terms: readonly WitnessedTerm[]): Violation[] {
  return terms
    .filter(({ end }) => end === 'expired' || end === 'preempted')
    .map((term) => violation('lease-lost', showTerm(term)));
}

function lateHandOvers(terms: readonly WitnessedTerm[], bounds: Bounds): Violation[] {
  const { within, afterReleaseMs, afterKillMs = Infinity } = bounds;
  return terms.flatMap((next, index) => {
    const before = terms[index - 1];
    const endedMs = before?.endedMs;
    if (before === undefined || endedMs === undefined) return [];
    if (within?.some(({ fromMs, untilMs }) => fromMs <= endedMs && endedMs <= untilMs) === false) return [];
    const boundMs = before.end === 'released' ? afterReleaseMs : afterKillMs;
    const gapMs = next.gainedMs - endedMs;
    if (gapMs <= boundMs) return [];
    const gap = `${Math.round(gapMs)} ms without a leader, and ${Math.round(boundMs)} are allowed`;
    return [violation('late-hand-over', showTerm(before), showTerm(next), gap)];
  });
}
