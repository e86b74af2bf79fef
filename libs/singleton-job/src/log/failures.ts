import { describeError, stackOf } from '../base/errors/message-of.js';
import { type JobEvents } from '../base/events/events.js';
import { showDuration } from '../base/text/duration.js';
import { MAX_REMINDER_MS, nextReminderAt } from '../base/time/reminders.js';

/** A job that fails in more ways than these gets no line for another one. */
const MAX_KINDS = 10;

/** A job whose runs have failed since its last success. */
interface Failing {
  beganAt: number;
  /** How it failed: the texts of its errors, without numbers. */
  readonly kinds: Set<string>;
  count: number;
  loggedAt: number;
}

/** What a line says of a run that failed. */
interface FailureLine {
  readonly text: string;
  readonly stack: string | undefined;
}

/** Which failed runs get a line: the first of each kind with its stack, then fewer and fewer, with their count. */
export class Failures {
  readonly #failing = new Map<string, Failing>();

  /** Undefined: a line said so lately. */
  failed({ job, startedAt, durationMs, error }: JobEvents['runFailed']): FailureLine | undefined {
    const at = startedAt.getTime() + durationMs;
    const failing = this.#failing.get(job) ?? { beganAt: at, kinds: new Set(), count: 0, loggedAt: at };
    this.#failing.set(job, failing);
    failing.count += 1;
    // the clock may have been set back
    const setBackMs = Math.max(failing.loggedAt - at, 0);
    failing.beganAt -= setBackMs;
    failing.loggedAt -= setBackMs;

    const message = describeError(error);
    const kind = message.replaceAll(/\d+/g, '#');
    const isNew = failing.kinds.size < MAX_KINDS && !failing.kinds.has(kind);
    if (isNew) failing.kinds.add(kind);

    const sinceLineMs = at - failing.loggedAt;
    if (!isNew && at < nextReminderAt(failing.beganAt, failing.loggedAt)) return undefined;
    failing.loggedAt = at;
    const times =
      failing.count === 1 ? '' : `, ${failing.count} times in a row within ${showDuration(at - failing.beganAt)}`;
    const hasStack = isNew || sinceLineMs >= MAX_REMINDER_MS;
    const text = `failed after ${showDuration(durationMs)}${times}: ${message}`;
    return { text, stack: hasStack ? stackOf(error) : undefined };
  }

  /** Undefined: its last run had not failed. */
  succeeded(job: string): string | undefined {
    const failing = this.#failing.get(job);
    this.#failing.delete(job);
    return failing && `succeeded again, after ${failing.count} failed run${failing.count === 1 ? '' : 's'}`;
  }
}
