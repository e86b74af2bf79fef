import { type Overlapping, type RecordedRun } from '../tools/replicas/history.js';

/** The runs since `sinceMs` for whose slot another replica had already started one. */
export function repeatedSlots(runs: readonly RecordedRun[], periodMs: number, sinceMs = 0): RecordedRun[] {
  const ranOn = new Map<number, Set<string>>();
  return runs
    .toSorted((a, b) => a.startedAtMs - b.startedAtMs)
    .filter(({ scheduledAtMs, startedAtMs, node }) => {
      const slot = Math.floor((Number.isNaN(scheduledAtMs) ? startedAtMs : scheduledAtMs) / periodMs);
      const nodes = ranOn.get(slot) ?? new Set();
      ranOn.set(slot, nodes);
      const isRepeated = [...nodes].some((other) => other !== node);
      nodes.add(node);
      return isRepeated && startedAtMs >= sinceMs;
    });
}

/** How many runs were under way at once, at most. */
export function mostAtOnce(runs: readonly RecordedRun[]): number {
  const under = ({ startedAtMs }: RecordedRun): number =>
    runs.filter((run) => run.startedAtMs <= startedAtMs && startedAtMs < run.endedAtMs).length;
  return Math.max(0, ...runs.map(under));
}

/** A time in which the process of a replica was halted. */
export interface Pause {
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** How long two overlapping runs both ran. A run whose process was halted meanwhile did not run. */
export function overlapMs([first, second]: Overlapping, pauses: readonly Pause[] = []): number {
  const fromMs = Math.max(first.startedAtMs, second.startedAtMs);
  const toMs = Math.min(first.endedAtMs, second.endedAtMs);
  const standing = pauses
    .filter(({ node }) => node === first.node || node === second.node)
    .map((pause) => Math.min(toMs, pause.toMs) - Math.max(fromMs, pause.fromMs))
    .filter((ms) => ms > 0);
  return toMs - fromMs - standing.reduce((sum, ms) => sum + ms, 0);
}
