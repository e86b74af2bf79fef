import { GRID_PERIOD_MS } from '../../test/faults/replica/order.js';
import { check, type History, type Violation, type WitnessedReport } from '../../test/support/checker.js';
import { type Fault } from './fault.js';
import { vacancies } from './leadership.js';
import { type Bound, GRACEFUL } from './settings.js';
import { type Testimony, worstLagMs } from './testimony.js';

/** One or two faults at once, from the first strike until all was calm again. */
export interface Episode {
  readonly faults: readonly Fault[];
  readonly fromMs: number;
  /** From when on the bound counts. */
  readonly sinceMs: number;
  readonly calmMs: number;
  /** What a right wall clock showed when the witness's own was at 0. */
  readonly epochMs: number;
}

/** What came of an episode. */
export interface Outcome {
  readonly bound: Bound;
  /** How long a job was without a leader, at worst. */
  readonly leaderlessMs: number;
  /** How long a job that is due every half second was without a run, at worst, beyond that half second. */
  readonly idleMs: number;
  /** How late a replica's word reached the witness, at worst: what the machine itself took away. */
  readonly lagMs: number;
  /** What replicas reported meanwhile as not started. */
  readonly reports: readonly WitnessedReport[];
  /** Broken promises. */
  readonly violations: readonly Violation[];
}

/** Looks at one episode, once the whole history is known. */
export function judge(episode: Episode, record: readonly Testimony[], history: History): Outcome {
  const bounds = episode.faults.map((fault) => fault.bound);
  return {
    bound: bounds.reduce((a, b) => (a.ms > b.ms ? a : b), GRACEFUL),
    leaderlessMs: leaderlessMs(episode, record),
    idleMs: idleMs(episode, record),
    lagMs: worstLagMs(record.filter(({ atMs }) => atMs >= episode.fromMs && atMs <= episode.calmMs)),
    reports: history.reports.filter(({ atMs = 0 }) => atMs > episode.fromMs && atMs <= episode.calmMs),
    violations: check(during(episode, history)),
  };
}

/** The runs that were in flight meanwhile, the occurrences that came due, and all that explains them. Ticks count in the whole history. */
function during({ fromMs, calmMs, epochMs }: Episode, history: History): History {
  const isDue = (at: number): boolean => at > epochMs + fromMs && at <= epochMs + calmMs;
  const runs = history.runs.filter(
    ({ startedMs, endedMs = Infinity, scheduledAt }) => (endedMs > fromMs && startedMs < calmMs) || isDue(scheduledAt),
  );
  return {
    ...history,
    runs,
    due: new Map([...history.due].map(([job, occurrences]) => [job, occurrences.filter(isDue)])),
    grids: new Map(),
  };
}

function leaderlessMs({ fromMs, sinceMs, calmMs }: Episode, record: readonly Testimony[]): number {
  const lengths = vacancies(record)
    .filter((vacancy) => vacancy.toMs > fromMs && vacancy.fromMs < calmMs)
    .map((vacancy) => Math.min(vacancy.toMs, calmMs) - Math.max(vacancy.fromMs, sinceMs));
  return Math.max(0, ...lengths);
}

function idleMs({ fromMs, sinceMs, calmMs }: Episode, record: readonly Testimony[]): number {
  const starts = record.filter(({ event, job }) => event === 'runBegan' && job === 'grid').map(({ atMs }) => atMs);
  const gaps = starts.flatMap((atMs, index) => {
    const before = starts[index - 1];
    if (before === undefined || atMs < fromMs || before > calmMs) return [];
    return [Math.min(atMs, calmMs) - Math.max(before, sinceMs) - GRID_PERIOD_MS];
  });
  return Math.max(0, ...gaps);
}
