import { type EndedRun } from '../base/events/events.js';
import { showDuration } from '../base/text/duration.js';
import { MAX_REMINDER_MS, nextReminderAt } from '../base/time/backoff.js';

/** A job that fails in more ways than these gets no line for another one. */
const MAX_KINDS = 10;
/** A job that fails again so soon is the same trouble, whatever succeeded in between. */
const SAME_TROUBLE_MS = 600_000;

/** A job whose runs fail, or failed lately. */
interface Failing {
  beganAt: number;
  /** How it failed, without numbers. */
  readonly kinds: Set<string>;
  count: number;
  failedAt: number;
  loggedAt: number;
  /** No line said that it succeeds again. */
  isFailing: boolean;
  /** It has failed again after such a line. */
  isFlapping: boolean;
}

/** What counts of a run that has ended. */
type RunEnd = Pick<EndedRun, 'job' | 'startedAt' | 'durationMs'>;

/** What the line of a failed run has. */
interface FailureLine {
  /** How often the job has failed. Empty: this once. */
  readonly times: string;
  readonly hasStack: boolean;
}

/**
 * Which failed runs get a line: the first of each kind with its stack, then fewer and fewer, with their count. A job
 * that fails and succeeds by turns has as few lines as one that always fails.
 */
export class Failures {
  readonly #failing = new Map<string, Failing>();

  /** `how` it failed, in words. Undefined: a line said so lately. */
  failed(run: RunEnd, how: string): FailureLine | undefined {
    const at = endOf(run);
    const before = this.#failing.get(run.job);
    const isSame = before !== undefined && (before.isFailing || at < before.failedAt + SAME_TROUBLE_MS);
    const failing = isSame ? before : newFailing(at);
    this.#failing.set(run.job, failing);
    failing.isFlapping ||= failing.count > 0 && !failing.isFailing;
    failing.count += 1;
    failing.failedAt = at;
    failing.isFailing = true;
    // the clock may have been set back
    const setBackMs = Math.max(failing.loggedAt - at, 0);
    failing.beganAt -= setBackMs;
    failing.loggedAt -= setBackMs;

    const kind = how.replaceAll(/\d+/g, '#');
    const isNew = failing.kinds.size < MAX_KINDS && !failing.kinds.has(kind);
    if (isNew) failing.kinds.add(kind);

    const sinceLineMs = at - failing.loggedAt;
    if (!isNew && at < nextReminderAt(failing.beganAt, failing.loggedAt)) return undefined;
    failing.loggedAt = at;
    const times = failing.count === 1 ? '' : `, ${failing.count} times within ${showDuration(at - failing.beganAt)}`;
    return { times, hasStack: isNew || sinceLineMs >= MAX_REMINDER_MS };
  }

  /** Undefined: its last run had not failed, or it may fail again soon. */
  succeeded(run: RunEnd): string | undefined {
    const failing = this.#failing.get(run.job);
    if (failing === undefined) return undefined;
    const isOver = endOf(run) >= failing.failedAt + SAME_TROUBLE_MS;
    if (isOver) this.#failing.delete(run.job);
    if (!failing.isFailing || (failing.isFlapping && !isOver)) return undefined;
    failing.isFailing = false;
    const { count } = failing;
    return `succeeded again, after ${count} failed run${count === 1 ? '' : 's'}`;
  }
}

function newFailing(at: number): Failing {
  return { beganAt: at, kinds: new Set(), count: 0, failedAt: at, loggedAt: at, isFailing: false, isFlapping: false };
}

function endOf({ startedAt, durationMs }: RunEnd): number {
  return startedAt.getTime() + durationMs;
}
