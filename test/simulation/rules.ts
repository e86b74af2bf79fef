import { type History, isInWindow, type Run, type Violation, violation } from './history.js';
import { runsTooEarly } from './interval-rule.js';
import { lostOccurrences } from './occurrence-rule.js';

/** Every rule that a history breaks. */
export function check(history: History): Violation[] {
  return [
    ...startsUnderEndedLease(history),
    ...twoLeaders(history),
    ...twoRuns(history),
    ...startsOfOneOccurrence(history),
    ...lostOccurrences(history),
    ...runsTooEarly(history),
    ...tokensFell(history),
    ...lateSignals(history),
    ...movedTwice(history),
    ...missing(history),
  ];
}

/** No run starts under an ended lease: not after the deadline of the replica, and not when another holder has the lock. */
function startsUnderEndedLease(history: History): Violation[] {
  return history.runs
    .filter(({ leaseLeftMs = 0, heldLock = true, ...run }) => {
      const isAllowed = isInWindow(history, 'ended-lease', [run], { fromMs: run.startedMs, untilMs: run.startedMs });
      return leaseLeftMs < 0 || (!heldLock && !isAllowed);
    })
    .map((run) => violation('ended-lease', run));
}

/** No two replicas lead a job at a time. */
function twoLeaders(history: History): Violation[] {
  return history.doubleLeads
    .filter(({ job, processes, atMs }) => {
      const leads = processes.map((process) => ({ job, process, startedMs: atMs }));
      return !isInWindow(history, 'two-leaders', leads, { fromMs: atMs, untilMs: atMs });
    })
    .map(({ job, processes, atMs }) => ({
      rule: 'two-leaders',
      evidence: `${job} is led by ${processes.join(' and ')} at ${atMs.toFixed(1)}`,
    }));
}

/** No two runs of a job at a time. A run counts until it ends, or until it should have settled after its signal. */
function twoRuns(history: History): Violation[] {
  const endOf = ({ endedMs = Infinity, abortedMs = Infinity, settleMs }: Run): number =>
    Math.min(endedMs, abortedMs + settleMs);
  const inOrder = history.runs.toSorted((a, b) => a.startedMs - b.startedMs);
  return inOrder.flatMap((run, index) =>
    inOrder
      .slice(0, index)
      .filter((earlier) => earlier.job === run.job && endOf(earlier) > run.startedMs)
      .filter((earlier) => {
        const overlap = { fromMs: run.startedMs, untilMs: Math.min(endOf(earlier), endOf(run)) };
        return !isInWindow(history, 'two-runs', [earlier, run], overlap);
      })
      .map((earlier) => violation('two-runs', earlier, run)),
  );
}

/** No cron occurrence starts twice, and never twice in one process. */
function startsOfOneOccurrence(history: History): Violation[] {
  const first = new Map<string, Run>();
  return history.runs
    .filter(({ kind }) => kind === 'cron')
    .toSorted((a, b) => a.startedMs - b.startedMs)
    .flatMap((run) => {
      const key = `${run.job} ${String(run.scheduledAt)}`;
      const earlier = first.get(key);
      if (earlier === undefined) {
        first.set(key, run);
        return [];
      }
      const start = { fromMs: run.startedMs, untilMs: run.startedMs, firstMs: earlier.startedMs };
      const isAllowed = earlier.process !== run.process && isInWindow(history, 'started-twice', [run], start);
      return isAllowed ? [] : [violation('started-twice', earlier, run)];
    });
}

/** Each holder of a lock has a larger fencing token than all earlier holders. */
function tokensFell(history: History): Violation[] {
  return history.grants.flatMap(({ lock, process, token, atMs }, index) => {
    const earlier = history.grants.slice(0, index).find((grant) => grant.lock === lock && grant.token >= token);
    const moment = { fromMs: atMs, untilMs: atMs };
    if (earlier === undefined || isInWindow(history, 'token-fell', [{ job: lock, process, startedMs: atMs }], moment))
      return [];
    const evidence = `${lock} on ${process} at ${atMs.toFixed(1)} has token ${token}, and on ${earlier.process} had ${earlier.token}`;
    return [{ rule: 'token-fell', evidence }];
  });
}

/** The signal of a run fires at once when its lease is lost, and that of `@WhileLeader` also when its replica stops or steps down. */
function lateSignals({ runs }: History): Violation[] {
  return runs
    .filter(({ signalDueMs = Infinity, abortedMs = Infinity, endedMs = Infinity }) => {
      return Math.min(abortedMs, endedMs) > signalDueMs;
    })
    .map((run) => violation('signal-late', run));
}

/** No process gives a job away soon after it got the job from another one, unless it has started since. */
function movedTwice({ leaderships, stayMs }: History): Violation[] {
  return leaderships.flatMap(({ job, process, what, atMs, startedMs }, index) => {
    if (what !== 'moved') return [];
    const [taken, given] = leaderships
      .slice(0, index)
      .filter((earlier) => earlier.job === job)
      .toReversed();
    const isArrival = taken?.what === 'gained' && taken.process === process && given?.what === 'moved';
    if (!isArrival || startedMs > given.atMs || atMs - given.atMs >= stayMs) return [];
    const evidence = `${job} moved from ${given.process} at ${given.atMs.toFixed(1)} and from ${process} at ${atMs.toFixed(1)}`;
    return [{ rule: 'moved-twice', evidence }];
  });
}

/** Each job has a leader, and runs, when nothing has failed for long enough. */
function missing(history: History): Violation[] {
  return history.vacancies
    .filter(({ rule, job, dueMs }) => {
      const moment = { fromMs: dueMs, untilMs: dueMs };
      return !isInWindow(history, rule, [{ job, process: '', startedMs: dueMs }], moment);
    })
    .map(({ rule, job, since, dueMs }) => ({
      rule,
      evidence: `${job} has no ${rule === 'no-run' ? 'run' : 'leader'} at ${dueMs.toFixed(1)}: ${since}`,
    }));
}
