import { cronFix } from '../../advice/crons.js';
import { describeValue } from '../../base/text/describe-value.js';
import { InvalidScheduleError } from '../schedule.js';

/** Names a part of an expression that is wrong, and what to write where no advice knows better. */
interface Mistake extends ErrorOptions {
  readonly field?: string;
  readonly fix?: string;
}

/** The error about an expression: the rule that it breaks, what was given, and the fix if one is known. */
export function cronError(rule: string, words: string, { field, fix, cause }: Mistake = {}): InvalidScheduleError {
  const advice = cronFix(words, field) ?? fix;
  const message = `cron ${rule}, got ${describeValue(field ?? words)}`;
  return new InvalidScheduleError(advice === undefined ? message : `${message}: ${advice}`, { cause });
}
