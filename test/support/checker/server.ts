import { violation } from './evidence.js';
import { type History, type Violation, type WitnessedStep } from './history.js';

/** After a release no command of that holder but a new bid makes it hold again. */
export function resurrections({ steps = [] }: History): Violation[] {
  return steps
    .filter(({ command, holder, before, after }) => command !== 'acquire' && after === holder && before !== holder)
    .map((step) => violation('resurrected', showStep(step)));
}

/** Nobody takes, or frees, the lock of somebody else. */
export function strangersChanges({ steps = [] }: History): Violation[] {
  return steps
    .filter(({ holder, before, after }) => before !== undefined && before !== holder && after !== before)
    .map((step) => violation('stranger-changed-lock', showStep(step)));
}

/**
 * At rest the server sees the heartbeats of leaders, a question of each follower in the life of a lock, claims, and what
 * intervals tell of their ends.
 */
export function commandsBeyondBudget(history: History): Violation[] {
  const { calm, steps, settings, processes = [], faults = [], terms = [] } = history;
  if (calm === undefined || steps === undefined || settings === undefined) return [];
  const { fromMs, untilMs, jobs } = calm;
  const isDisturbed =
    faults.some((fault) => fault.untilMs > fromMs - settings.lockExpiryMs) ||
    processes.some(
      ({ startedMs, stopAskedMs = 0, endedMs = 0 }) => Math.max(startedMs, stopAskedMs, endedMs) > fromMs,
    ) ||
    terms.some(({ gainedMs }) => gainedMs > fromMs);
  if (isDisturbed) return [];
  const lastsMs = (untilMs - fromMs) * (1 + settings.drift);
  const times = (everyMs: number): number => Math.ceil(lastsMs / everyMs) + 1;
  const alive = processes.filter(({ endedMs }) => endedMs === undefined).length;
  const claims = [...history.due.values()].flat().filter((at) => at > calm.epochMs + fromMs).length + jobs.length;
  const ends = [...(settings.delayMs?.values() ?? [])].reduce((sum, delayMs) => sum + times(delayMs), 0);
  const budget =
    jobs.length * times(settings.heartbeatIntervalMs) +
    jobs.length * (alive - 1) * times(settings.lockExpiryMs - settings.heartbeatIntervalMs) +
    claims +
    ends;
  const count = steps.filter(({ atMs }) => atMs > fromMs).length;
  if (count <= budget) return [];
  const last = steps.slice(-10).map(showStep);
  return [violation('too-many-commands', `${count} commands at rest, and ${budget} are allowed; the last:`, ...last)];
}

function showStep({ job, process, holder, command, atMs, before = 'nobody', after = 'nobody' }: WitnessedStep): string {
  return `at ${Math.round(atMs)} ${process} sent ${command} of ${job} as ${holder}: held by ${before} before, by ${after} after`;
}
