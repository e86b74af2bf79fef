import { durationFix } from '../advice/durations.js';
import { valueFix } from '../advice/values.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { describeValue } from '../base/text/describe-value.js';
import { type Duration, parseDuration } from '../base/text/duration.js';

/**
 * Checks a text that is known only at run time.
 *
 * @throws InvalidOptionsError if it is no duration
 * @example `@FixedRate(duration(process.env.PERIOD ?? '5m'))`
 */
export function duration(text: string): Duration {
  millisecondsOf(text, 'duration()');
  return text as Duration;
}

/**
 * The milliseconds of what a method of the library, `whose`, was given.
 *
 * @throws InvalidOptionsError if it is no duration
 */
export function millisecondsOf(value: unknown, whose: string): number {
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  const problem = `${whose} must be given a text such as '500ms', '3s' or '5m', got ${describeValue(value)}`;
  throw new InvalidOptionsError([`${problem}: ${valueFix(value) ?? durationFix(value)}`], {
    title: 'this is no duration',
  });
}
