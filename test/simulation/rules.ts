/** A run of a job as an observer outside all replicas saw it, in true time. */
export interface Run {
  readonly job: string;
  readonly process: string;
  /** Of a cron run: the occurrence, in milliseconds since the epoch. */
  readonly scheduledAt: number;
  readonly startedMs: number;
  /** When the method settled or its process died. Left out while it runs. */
  readonly endedMs?: number;
  /** When its signal fired. */
  readonly abortedMs?: number;
  /** What was left of the lease at the start, by the replica's own clock: negative after the safe deadline. Left out where nobody knows. */
  readonly leaseLeftMs?: number;
  /** Whether the store had the lock for this process at the start. Left out where nobody knows. */
  readonly heldLock?: boolean;
}

export type Rule = 'ended-lease' | 'two-leaders' | 'started-twice';

/** A time in which a rule may be broken, because of a fault that the promises exclude. */
export interface Window {
  readonly rules: readonly Rule[];
  readonly fromMs: number;
  readonly untilMs: number;
  /** @default all */
  readonly job?: string;
  /** @default all */
  readonly process?: string;
}

export interface History {
  readonly runs: readonly Run[];
  readonly windows: readonly Window[];
  /** How long a run may take to settle after its signal. Later, only its fencing token can stop it. */
  readonly settleMs: number;
  /** The jobs with occurrences that start once. */
  readonly cronJobs: readonly string[];
}

/** A broken rule, with the lines of the history that show it. */
export interface Violation {
  readonly rule: Rule;
  readonly evidence: string;
}

/** Every rule that a history breaks. */
export function check(history: History): Violation[] {
  return [...startsUnderEndedLease(history), ...twoLeaders(history), ...startsOfOneOccurrence(history)];
}

/** No run starts under an ended lease: neither after the replica's own deadline, nor when the store has the lock for somebody else. */
function startsUnderEndedLease(history: History): Violation[] {
  return history.runs
    .filter(({ leaseLeftMs = 0, heldLock = true, ...run }) => {
      const isAllowed = isInWindow(history, 'ended-lease', [run], { fromMs: run.startedMs, untilMs: run.startedMs });
      return leaseLeftMs < 0 || (!heldLock && !isAllowed);
    })
    .map((run) => violation('ended-lease', run));
}

/** No two runs of a job at a time. A run counts until it ends, or until it should have settled after its signal. */
function twoLeaders(history: History): Violation[] {
  const endOf = ({ endedMs = Infinity, abortedMs = Infinity }: Run): number =>
    Math.min(endedMs, abortedMs + history.settleMs);
  const inOrder = history.runs.toSorted((a, b) => a.startedMs - b.startedMs);
  return inOrder.flatMap((run, index) =>
    inOrder
      .slice(0, index)
      .filter((earlier) => earlier.job === run.job && endOf(earlier) > run.startedMs)
      .filter((earlier) => {
        const overlap = { fromMs: run.startedMs, untilMs: Math.min(endOf(earlier), endOf(run)) };
        return !isInWindow(history, 'two-leaders', [earlier, run], overlap);
      })
      .map((earlier) => violation('two-leaders', earlier, run)),
  );
}

/** No cron occurrence starts twice, and never twice in one process. */
function startsOfOneOccurrence(history: History): Violation[] {
  const first = new Map<string, Run>();
  return history.runs
    .filter(({ job }) => history.cronJobs.includes(job))
    .toSorted((a, b) => a.startedMs - b.startedMs)
    .flatMap((run) => {
      const key = `${run.job} ${String(run.scheduledAt)}`;
      const earlier = first.get(key);
      if (earlier === undefined) {
        first.set(key, run);
        return [];
      }
      const start = { fromMs: run.startedMs, untilMs: run.startedMs };
      const isAllowed = earlier.process !== run.process && isInWindow(history, 'started-twice', [run], start);
      return isAllowed ? [] : [violation('started-twice', earlier, run)];
    });
}

/** Whether a window of this rule, for this job and one of these processes, holds the whole time. */
function isInWindow(
  { windows }: History,
  rule: Rule,
  runs: readonly Pick<Run, 'job' | 'process'>[],
  { fromMs, untilMs }: Pick<Window, 'fromMs' | 'untilMs'>,
): boolean {
  return windows.some(
    (window) =>
      window.rules.includes(rule) &&
      window.fromMs <= fromMs &&
      untilMs <= window.untilMs &&
      runs.some(({ job, process }) => (window.job ?? job) === job && (window.process ?? process) === process),
  );
}

function violation(rule: Rule, ...runs: readonly Run[]): Violation {
  return { rule, evidence: runs.map(inWords).join('\n') };
}

function inWords({ job, process, scheduledAt, startedMs, endedMs, abortedMs, leaseLeftMs, heldLock }: Run): string {
  const until = endedMs === undefined ? 'still running' : `until ${endedMs.toFixed(1)}`;
  const aborted = abortedMs === undefined ? '' : `, aborted at ${abortedMs.toFixed(1)}`;
  const lease = leaseLeftMs === undefined ? '' : `, ${leaseLeftMs.toFixed(1)} ms of its lease left`;
  const lock = heldLock === false ? ', without the lock' : '';
  const occurrence = new Date(scheduledAt).toISOString();
  return `${job} on ${process} for ${occurrence} from ${startedMs.toFixed(1)} ${until}${aborted}${lease}${lock}`;
}
