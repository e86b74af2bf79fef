import { type Kind } from './plan.js';

/** A run of a job in true time, as seen from outside all replicas. */
export interface Run {
  readonly job: string;
  /** The kind of the schedule. Only occurrences of cron start once. */
  readonly kind: Kind;
  readonly process: string;
  /** Of a cron run: the occurrence, in milliseconds since the epoch. */
  readonly scheduledAt: number;
  readonly startedMs: number;
  /** When the method settled or its process died. Left out while it runs. */
  readonly endedMs?: number;
  /** When the store got the end of it, with the release of its lock. */
  readonly endRecordedMs?: number;
  /** When its replica was stopped, stepped down or lost the lease. Left out: not during this run. */
  readonly signalDueMs?: number;
  /** When its signal fired. */
  readonly abortedMs?: number;
  /** How long it may take to settle after its signal. After that, only its fencing token protects the data. */
  readonly settleMs: number;
  /** The rest of the lease at the start, by the clocks of the replica. Negative after the deadline. Left out: not known. */
  readonly leaseLeftMs?: number;
  /** Whether this process had the lock in the store at the start, and its session had not ended. Left out: not known. */
  readonly heldLock?: boolean;
}

/** A moment at which two processes both trust that they may start runs of a job. */
export interface DoubleLead {
  readonly job: string;
  readonly processes: readonly [string, string];
  readonly atMs: number;
}

/** A job without a leader, or without a run, at the moment at which it should have one. */
export interface Vacancy {
  readonly rule: 'no-leader' | 'no-run' | 'no-hand-over';
  readonly job: string;
  /** What happened before. */
  readonly since: string;
  readonly dueMs: number;
}

/** A lock of `LockService` that a process was granted. */
export interface LockGrant {
  readonly lock: string;
  readonly process: string;
  readonly token: number;
  readonly atMs: number;
}

/** A process that leads a job from now on, or has given it to a process that leads fewer. */
export interface Leadership {
  readonly job: string;
  readonly process: string;
  readonly what: 'gained' | 'moved';
  readonly atMs: number;
  /** When the process started. It knows of no earlier move. */
  readonly startedMs: number;
}

/** Occurrences of a cron job that will not start: those after `after` and up to `upTo`, by the clock of the store. */
export interface Report {
  readonly after: number;
  readonly upTo: number;
  readonly atMs: number;
}

/** A cron job that has one schedule in the whole scenario. */
export interface CronJob {
  readonly everyMs: number;
  /** Its occurrences count from here. Undefined: it was never granted. */
  readonly firstGrant: Report | undefined;
  readonly reports: readonly Report[];
  /**
   * When older occurrences may be lost that were neither started nor reported: a grant made a new state, because the store had lost the old
   * one. Or a new leader crashed with its first renewal, right before its reports.
   */
  readonly lossesMs: readonly number[];
}

export type Rule =
  | 'ended-lease'
  | 'two-leaders'
  | 'two-runs'
  | 'started-twice'
  | 'occurrence-lost'
  | 'run-too-early'
  | 'token-fell'
  | 'signal-late'
  | 'moved-twice'
  | 'no-leader'
  | 'no-run'
  | 'no-hand-over';

/** A time in which a rule may break, because of a fault that the promises exclude. */
export interface Window {
  readonly rules: readonly Rule[];
  readonly fromMs: number;
  readonly untilMs: number;
  /** @default all */
  readonly job?: string;
  /** @default all */
  readonly process?: string;
  /** Only runs that were started by then. @default all */
  readonly startedByMs?: number;
  /** Of `started-twice`: only occurrences that were first started in this time. */
  readonly firstStarted?: { readonly fromMs: number; readonly untilMs: number };
}

export interface History {
  readonly runs: readonly Run[];
  readonly doubleLeads: readonly DoubleLead[];
  readonly vacancies: readonly Vacancy[];
  readonly grants: readonly LockGrant[];
  /** In order. */
  readonly leaderships: readonly Leadership[];
  /** How long a job that was moved stays where it is. */
  readonly stayMs: number;
  readonly windows: readonly Window[];
  /** The interval jobs, with the delay after each run. */
  readonly intervals: ReadonlyMap<string, number>;
  readonly crons: ReadonlyMap<string, CronJob>;
}

/** A broken rule, with the lines of the history that show it. */
export interface Violation {
  readonly rule: Rule;
  readonly evidence: string;
}

/** Whether a window of this rule, for this job and one of these processes, holds the whole time. */
export function isInWindow(
  { windows }: History,
  rule: Rule,
  leads: readonly Pick<Run, 'job' | 'process' | 'startedMs'>[],
  { fromMs, untilMs, firstMs }: { readonly fromMs: number; readonly untilMs: number; readonly firstMs?: number },
): boolean {
  return windows.some(
    (window) =>
      window.rules.includes(rule) &&
      window.fromMs <= fromMs &&
      untilMs <= window.untilMs &&
      (window.firstStarted === undefined ||
        (firstMs !== undefined && window.firstStarted.fromMs <= firstMs && firstMs <= window.firstStarted.untilMs)) &&
      leads.some(
        ({ job, process, startedMs }) =>
          (window.job ?? job) === job &&
          (window.process ?? process) === process &&
          startedMs <= (window.startedByMs ?? startedMs),
      ),
  );
}

export function violation(rule: Rule, ...runs: readonly Run[]): Violation {
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
