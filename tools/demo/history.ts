import { type ScheduleKind } from '../../libs/singleton-job/src/index.js';
import { dispatch, type Fact, type Handlers, inOrder } from './facts.js';

interface Span {
  readonly replica: string;
  readonly pid: number;
  readonly job: string;
  readonly fencingToken: number;
  readonly fromMs: number;
  /** Infinity while it goes on; the end of its process, where nothing else ended it. */
  readonly toMs: number;
}

/** One uninterrupted leadership. */
export interface Term extends Span {
  readonly end: 'none' | 'released' | 'lost' | 'died';
}

export interface Run extends Span {
  readonly kind: ScheduleKind;
  readonly scheduledAt: string;
}

/** A replica from its start to its end; times that have not come are Infinity. */
export interface Process {
  readonly replica: string;
  readonly pid: number;
  readonly readyMs: number;
  /** When the demo asked it to stop. A signal from elsewhere shows only in what follows. */
  readonly stoppingMs: number;
  /** When the demo killed it. */
  readonly killedMs: number;
  readonly endedMs: number;
  /** Undefined while it lives, and for one that a signal ended. */
  readonly exitCode?: number | undefined;
}

/** The facts, retold as terms, runs and processes in the order of their beginnings. */
export interface History {
  readonly terms: readonly Term[];
  readonly runs: readonly Run[];
  readonly processes: readonly Process[];
  /** Dropped ticks by job. */
  readonly drops: ReadonlyMap<string, number>;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export function readHistory(facts: readonly Fact[]): History {
  const terms: Draft<Term>[] = [];
  const runs: Draft<Run>[] = [];
  const processes: Draft<Process>[] = [];
  const drops = new Map<string, number>();

  const change = (pid: number, news: Partial<Process>): void => {
    Object.assign(processes.find((process) => process.pid === pid) ?? {}, news);
  };
  const endTerm = (job: string, { pid, atMs: toMs }: Fact, end: Term['end']): void => {
    Object.assign(terms.findLast(isOpen(job, pid)) ?? {}, { toMs, end });
  };
  const endRun = (job: string, { pid, atMs: toMs }: Fact): void => {
    Object.assign(runs.findLast(isOpen(job, pid)) ?? {}, { toMs });
  };

  const handlers: Handlers = {
    processStarted: ({ replica, pid }) => {
      const never = { readyMs: Infinity, stoppingMs: Infinity, killedMs: Infinity, endedMs: Infinity };
      processes.push({ replica, pid, ...never });
    },
    processReady: ({ pid, atMs: readyMs }) => {
      change(pid, { readyMs });
    },
    processStopping: ({ pid, atMs: stoppingMs }) => {
      change(pid, { stoppingMs });
    },
    processKilled: ({ pid, atMs: killedMs }) => {
      change(pid, { killedMs });
    },
    processEnded: (fact) => {
      change(fact.pid, { endedMs: fact.atMs, exitCode: fact.code ?? undefined });
      for (const { job } of terms.filter((term) => isOpen(term.job, fact.pid)(term))) endTerm(job, fact, 'died');
      for (const { job } of runs.filter((run) => isOpen(run.job, fact.pid)(run))) endRun(job, fact);
    },
    leadershipGained: ({ replica, pid, atMs: fromMs, payload: { job, fencingToken } }) => {
      terms.push({ job, replica, pid, fencingToken, fromMs, toMs: Infinity, end: 'none' });
    },
    leadershipReleased: (fact) => {
      endTerm(fact.payload.job, fact, 'released');
    },
    leadershipLost: (fact) => {
      endTerm(fact.payload.job, fact, 'lost');
    },
    runStarted: ({ replica, pid, atMs: fromMs, payload: { job, kind, scheduledAt, fencingToken } }) => {
      runs.push({ job, replica, pid, kind, scheduledAt, fencingToken, fromMs, toMs: Infinity });
    },
    runSucceeded: (fact) => {
      endRun(fact.payload.job, fact);
    },
    runFailed: (fact) => {
      endRun(fact.payload.job, fact);
    },
    runCancelled: (fact) => {
      endRun(fact.payload.job, fact);
    },
    tickDropped: ({ payload: { job, count } }) => {
      drops.set(job, (drops.get(job) ?? 0) + count);
    },
  };
  for (const fact of inOrder(facts)) dispatch(fact, handlers);
  return { terms, runs, processes, drops };
}

/** Who leads `job` at the end of the history. */
export function leaderOf({ terms }: History, job: string): Term | undefined {
  return terms.findLast((term) => term.job === job && term.toMs === Infinity);
}

export function runsOf({ runs }: History, { job, pid, fencingToken }: Term): readonly Run[] {
  return runs.filter((run) => run.job === job && run.pid === pid && run.fencingToken === fencingToken);
}

/** Picks what has not ended. */
function isOpen(job: string, pid: number): (span: Span) => boolean {
  return (span) => span.job === job && span.pid === pid && span.toMs === Infinity;
}
