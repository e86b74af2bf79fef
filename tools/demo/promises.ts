import { type JobOnStage } from './cast.js';
import { handOvers } from './hand-overs.js';
import { type History, type Run, runsOf, type Term } from './history.js';

/**
 * How late a replica on a busy machine may tell that its term has ended. Two that believe in themselves for longer than that
 * are rivals; runs that overlap are seen without any slack.
 */
const REPORT_SLACK_MS = 2_000;

/** On top of `lockExpiry`: the next bid, and a machine that has other work as well. */
const KILL_SLACK_MS = 3_000;

/** It takes milliseconds, unless the machine has other work; one that came near `lockExpiry` would have been an expiry. */
function gracefulBoundMs({ lockExpiryMs }: JobOnStage): number {
  return lockExpiryMs / 2;
}

function killBoundMs({ lockExpiryMs }: JobOnStage): number {
  return lockExpiryMs + KILL_SLACK_MS;
}

/** Each pair of runs of `job` of which the second began before the first had ended. */
export function overlaps(history: History, job: string): (readonly [Run, Run])[] {
  const runs = history.runs.filter((run) => run.job === job);
  return runs.flatMap((run, index) => {
    const found: (readonly [Run, Run])[] = [];
    // in the order of their beginnings: the first that begins later than that is the last to look at
    for (let next = index + 1; next < runs.length; next++) {
      const later = runs[next];
      if (later === undefined || later.fromMs >= run.toMs) break;
      found.push([run, later]);
    }
    return found;
  });
}

/** One sentence for each time that a promise did not hold. After `untilMs` the demo ends, and nobody has to take over. */
export function brokenPromises(history: History, jobs: readonly JobOnStage[], untilMs: number): string[] {
  return [
    ...jobs.flatMap((job) => [
      ...overlappingRuns(history, job),
      ...rivals(history, job),
      ...staleTokens(history, job),
      ...runsWithoutLead(history, job),
      ...repeatedOccurrences(history, job),
      ...slowHandOvers(history, job),
      ...idleLeaders(history, job, untilMs),
      ...orphaned(history, job, untilMs),
    ]),
    ...crashes(history),
    ...stuck(history),
  ];
}

function overlappingRuns(history: History, { name }: JobOnStage): string[] {
  return overlaps(history, name).map(
    ([run, later]) => `${name}: a run on ${later.replica} began while one on ${run.replica} was in flight`,
  );
}

function rivals(history: History, { name }: JobOnStage): string[] {
  return pairs(termsOf(history, name))
    .filter(([term, next]) => next.fromMs < term.toMs - REPORT_SLACK_MS)
    .map(([term, next]) => `${name}: ${next.replica} took the lead while ${term.replica} led`);
}

function staleTokens(history: History, { name }: JobOnStage): string[] {
  return pairs(termsOf(history, name))
    .filter(([term, next]) => next.fencingToken <= term.fencingToken)
    .map(
      ([term, next]) =>
        `${name}: the fencing token went from ${String(term.fencingToken)} (${term.replica}) to ${String(next.fencingToken)} (${next.replica})`,
    );
}

function runsWithoutLead(history: History, { name }: JobOnStage): string[] {
  const led = new Set(termsOf(history, name).flatMap((term) => runsOf(history, term)));
  return history.runs
    .filter((run) => run.job === name && !led.has(run))
    .map((run) => `${name}: ${run.replica} ran with token ${String(run.fencingToken)}, which it did not lead with`);
}

function repeatedOccurrences(history: History, { name }: JobOnStage): string[] {
  // an interval has no occurrences: it counts from the end of a run
  const runs = history.runs.filter((run) => run.job === name && run.kind !== 'interval');
  const seen = new Set<string>();
  const isRepeated = ({ scheduledAt }: Run): boolean => seen.size === seen.add(scheduledAt).size;
  return runs
    .filter(isRepeated)
    .map((run) => `${name}: ${run.scheduledAt} was started twice, the second time on ${run.replica}`);
}

function slowHandOvers(history: History, job: JobOnStage): string[] {
  const bounds = { graceful: gracefulBoundMs(job), kill: killBoundMs(job), taken: Infinity };
  return handOvers(history, job.name)
    .filter(({ how, tookMs }) => tookMs > bounds[how])
    .map(
      ({ from, to, how, tookMs }) =>
        `${job.name}: ${how} hand-over from ${from} to ${to} took ${String(tookMs)} ms, more than ${String(bounds[how])} ms`,
    );
}

function idleLeaders(history: History, job: JobOnStage, untilMs: number): string[] {
  const ledMs = ({ fromMs, toMs }: Term): number => Math.min(toMs, untilMs) - fromMs;
  return termsOf(history, job.name)
    .filter((term) => ledMs(term) > job.firstRunWithinMs && runsOf(history, term).length === 0)
    .map((term) => `${job.name}: ${term.replica} led for ${String(ledMs(term))} ms and never ran it`);
}

function orphaned(history: History, job: JobOnStage, untilMs: number): string[] {
  const last = termsOf(history, job.name).at(-1);
  if (last === undefined) return [`${job.name}: nobody ever led it`];
  const present = history.processes.filter(({ endedMs }) => endedMs > untilMs);
  const since = Math.max(last.toMs, Math.min(...present.map(({ readyMs }) => readyMs)));
  return untilMs - since > killBoundMs(job) ? [`${job.name}: nobody led it after ${last.replica}`] : [];
}

function crashes({ processes }: History): string[] {
  return processes
    .filter(({ exitCode = 0 }) => exitCode !== 0)
    .map(({ replica, pid, exitCode }) => `${replica} (pid ${String(pid)}) crashed with exit code ${String(exitCode)}`);
}

function stuck({ processes }: History): string[] {
  return processes
    .filter(({ stoppingMs, killedMs }) => stoppingMs < killedMs && killedMs < Infinity)
    .map(({ replica, pid }) => `${replica} (pid ${String(pid)}) did not end when it was asked to`);
}

function termsOf({ terms }: History, job: string): Term[] {
  return terms.filter((term) => term.job === job);
}

function pairs<T>(items: readonly T[]): (readonly [T, T])[] {
  return items.slice(1).flatMap((next, index) => items.slice(index, index + 1).map((item) => [item, next] as const));
}
