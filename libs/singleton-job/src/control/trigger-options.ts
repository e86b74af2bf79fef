import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type Duration } from '../base/text/duration.js';
import { type RunWait } from '../commands/job-commands.js';
import { type OptionRow, readCallOptions, withDefaults } from '../options/table/option-table.js';
import { abortSignal, duration } from '../options/table/option-types.js';

/**
 * Options of `trigger()`.
 *
 * @example `jobs.trigger('daily-report', { wait: '5m' })`
 */
export interface TriggerOptions {
  /**
   * How long the call waits for the end of the run, at most one day. The leader has 2 s to answer also if this is
   * shorter.
   */
  readonly wait: Duration;

  /** Ends the wait, not the run. The call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const TRIGGER_OPTIONS = {
  wait: { type: duration({ maxMs: 24 * 3_600_000 }), isRequired: true },
  signal: { type: abortSignal },
} as const satisfies Record<keyof TriggerOptions, OptionRow>;

/** @throws InvalidOptionsError with every mistake */
export function readTriggerOptions(options: unknown): RunWait {
  const problems: string[] = [];
  const read = readCallOptions(TRIGGER_OPTIONS, options, problems, { fix: "write { wait: '5m' }" });
  if (problems.length > 0) throw new InvalidOptionsError(problems, { title: 'trigger() cannot use these options' });
  return withDefaults(TRIGGER_OPTIONS, read);
}
