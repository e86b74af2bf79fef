import { type History, type Process, runsOf, type Term } from './history.js';

/** How the leadership of a job went from one replica to the next. */
export interface HandOver {
  readonly job: string;
  readonly from: string;
  readonly to: string;
  /** `taken`: the term ended against the will of its replica, which lived on. */
  readonly how: 'graceful' | 'kill' | 'taken';
  readonly tookMs: number;
}

export function handOvers(history: History, job: string): HandOver[] {
  const terms = history.terms.filter((term) => term.job === job);
  return terms.slice(1).flatMap((next, index) => {
    const term = terms[index];
    return term === undefined ? [] : [handOver(history, term, next)];
  });
}

function handOver(history: History, term: Term, next: Term): HandOver {
  const how = ({ released: 'graceful', died: 'kill', lost: 'taken', none: 'taken' } as const)[term.end];
  // nobody can take over before somebody is there
  const since = Math.max(
    how === 'graceful' ? freedMs(history, term, next) : term.toMs,
    firstThereMs(history, term, next),
  );
  const tookMs = Math.max(0, next.fromMs - since);
  return { job: term.job, from: term.replica, to: next.replica, how, tookMs };
}

/**
 * When a graceful stop had nothing to wait for any more: it was asked for, and the run in flight had ended. Earlier than
 * the report of the release, so that the time until then counts as well.
 */
function freedMs(history: History, term: Term, next: Term): number {
  const askedMs = history.processes.find(({ pid }) => pid === term.pid)?.stoppingMs ?? Infinity;
  const settledMs = Math.max(...runsOf(history, term).map((run) => run.toMs), term.fromMs);
  return Math.max(settledMs, Math.min(askedMs, term.toMs, next.fromMs));
}

function firstThereMs({ processes }: History, term: Term, next: Term): number {
  const isThere = ({ pid, endedMs }: Process): boolean => pid !== term.pid && endedMs > next.fromMs;
  return Math.min(...processes.filter(isThere).map(({ readyMs }) => readyMs));
}
