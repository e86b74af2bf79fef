import { grantedMs } from './data-loss.js';
import { isOfOneMoment } from './fencing.js';
import { showRun, showTerm, violation } from './evidence.js';
import { type History, type Violation, type WitnessedTerm } from './history.js';

/** Two terms of a job with the same fencing token: a resource could not tell them apart. */
export function tokensReused(history: History): Violation[] {
  const { terms = [] } = history;
  const first = new Map<string, WitnessedTerm>();
  return terms.flatMap((term) => {
    const key = `${term.job} ${term.fencingToken}`;
    const earlier = first.get(key);
    if (
      earlier !== undefined &&
      isOfOneMoment(history, term.job, [grantedMs(history, earlier), grantedMs(history, term)])
    )
      return [];
    if (earlier !== undefined) return [violation('token-reused', showTerm(earlier), showTerm(term))];
    first.set(key, term);
    return [];
  });
}

/** A run of a fixed rate for an instant that is no slot of its grid, or for a slot that has not come yet. */
export function offTheGrid({ runs, settings, grids = new Map<string, number>() }: History): Violation[] {
  return runs.flatMap((run) => {
    const periodMs = grids.get(run.job);
    const { latenessMs = 0, scheduledAt } = run;
    const isEarly = latenessMs < -(settings?.toleranceMs ?? 0);
    if (periodMs === undefined || (scheduledAt % periodMs === 0 && !isEarly)) return [];
    return [violation('off-the-grid', showRun(run))];
  });
}
