import { showTerm, violation } from './evidence.js';
import { type History, type Violation } from './history.js';

/** After a calm each job has exactly one leader, and runs. */
export function leaderlessAfterCalm({ calm, terms = [], runs, due }: History): Violation[] {
  if (calm === undefined) return [];
  const { fromMs, epochMs, jobs } = calm;
  return jobs.flatMap((job) => {
    const leaders = terms.filter((term) => term.job === job && term.endedMs === undefined);
    // a leader whose clock was ahead may have run occurrences that the others still wait for; a long run drops what is due in it
    const hasRun = runs.some(
      ({ endedMs = Infinity, ...run }) =>
        run.job === job && (endedMs > fromMs || (due.has(job) && run.scheduledAt > epochMs + fromMs)),
    );
    if (leaders.length === 1 && hasRun) return [];
    return [
      violation(
        'leaderless-after-calm',
        `${job} has ${leaders.length} leaders and ${hasRun ? 'runs' : 'does not run'}`,
        ...leaders.map(showTerm),
      ),
    ];
  });
}
