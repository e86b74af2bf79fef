import { type Rule, type Violation, type WitnessedReport, type WitnessedRun, type WitnessedTerm } from './history.js';

/** A violation, shown by these lines of the history. */
export function violation(rule: Rule, ...lines: readonly string[]): Violation {
  return { rule, evidence: lines.join('\n') };
}

export function showRun(run: WitnessedRun): string {
  const until = run.endedMs === undefined ? 'still in flight' : `until ${Math.round(run.endedMs)}`;
  const aborted = run.abortedMs === undefined ? '' : `, aborted at ${Math.round(run.abortedMs)}`;
  const lock = run.heldLock === false ? ', lock held by another' : '';
  return (
    `${run.job} on ${run.process} from ${Math.round(run.startedMs)} ${until}, ` +
    `token ${run.fencingToken}, for ${showDate(run.scheduledAt)}${aborted}${lock}`
  );
}

export function showReport({ job, process, from, to, reason = 'no reason', atMs }: WitnessedReport): string {
  const at = atMs === undefined ? '' : ` at ${Math.round(atMs)}`;
  return `${job} on ${process} reports (${showDate(from)}, ${showDate(to)}] as ${reason}${at}`;
}

export function showTerm({ job, process, fencingToken, gainedMs, endedMs, end }: WitnessedTerm): string {
  const until = endedMs === undefined ? 'until now' : `until ${Math.round(endedMs)}`;
  return `${job} is led by ${process} from ${Math.round(gainedMs)} ${until}, token ${fencingToken}, ${end ?? 'and goes on'}`;
}

export function showDate(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : String(at);
}
